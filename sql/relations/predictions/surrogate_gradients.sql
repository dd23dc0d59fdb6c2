-- surrogate_gradients: one row per prediction: doc_id, label, score, share of the sub-gradient, divisor of shares, and number of negatives.
-- Predictions of equal class and score have equal shares, so that the gradient does not depend on the order of rows.
-- Nonzero: tied_gradients.num_sharing.
-- Grain: rows of predictions
SELECT
  predictions.group_id, predictions.doc_id, predictions.label, predictions.score,
  tied_gradients.signed_weight / tied_gradients.num_sharing AS gradient_share, -- weight of misordered pairs, negated for a positive
  MAX(tied_gradients.positive_divisor) OVER (PARTITION BY predictions.group_id) AS positive_divisor, -- divisor of the group's sum of shares
  MAX(tied_gradients.num_negatives) OVER (PARTITION BY predictions.group_id) AS num_negatives -- compared negatives of the group
FROM predictions
JOIN (
  -- one row per group, label and distinct score
  SELECT
    group_id, label, score,
    SUM(signed_weight) AS signed_weight,
    SUM(num_sharing) AS num_sharing,
    MAX(positive_divisor) AS positive_divisor,
    MAX(num_negatives) AS num_negatives
  FROM (
    -- one row per group, label, distinct score and prediction
    SELECT
      group_id, label, score,
      CASE WHEN label = 1 THEN -pair_weight ELSE pair_weight END AS signed_weight,
      0 AS num_sharing,
      positive_divisor, num_negatives
    FROM misordered_pair_counts
    UNION ALL
    SELECT
      group_id, label, score,
      0 AS signed_weight,
      1 AS num_sharing,
      0 AS positive_divisor,
      0 AS num_negatives
    FROM class_ranks
  ) AS gradient_terms
  GROUP BY group_id, label, score
) AS tied_gradients
  ON tied_gradients.group_id = predictions.group_id
  AND tied_gradients.label = predictions.label
  AND tied_gradients.score = predictions.score
