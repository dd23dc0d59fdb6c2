-- surrogate_gradients: one row per prediction: label, score, its part of the surrogate's sub-gradient, compared positives and negatives.
-- Predictions of equal class and score have equal shares, so that the gradient does not depend on the order of rows.
-- Nonzero: tied_gradients.num_sharing.
-- Grain: rows of predictions
SELECT
  predictions.group_id,
  predictions.doc_id,
  predictions.label,
  predictions.score,
  tied_gradients.signed_pairs / tied_gradients.num_sharing AS gradient_share, -- misordered pairs, negative of a positive
  MAX(tied_gradients.num_compared) OVER (PARTITION BY predictions.group_id) AS num_compared, -- positives that are compared
  MAX(tied_gradients.negatives) OVER (PARTITION BY predictions.group_id) AS negatives -- compared negatives of the group
FROM predictions
JOIN (
  -- one row per group, label and distinct score
  SELECT
    group_id,
    label,
    score,
    SUM(signed_pairs) AS signed_pairs,
    SUM(num_sharing) AS num_sharing,
    MAX(num_compared) AS num_compared,
    MAX(negatives) AS negatives
  FROM (
    -- one row per group, label, distinct score and prediction
    SELECT
      group_id,
      label,
      score,
      CASE WHEN label = 1 THEN -num_pairs ELSE num_pairs END AS signed_pairs,
      0 AS num_sharing,
      num_compared,
      negatives
    FROM misordered_pair_counts
    UNION ALL
    SELECT
      group_id,
      label,
      score,
      0 AS signed_pairs,
      1 AS num_sharing,
      0 AS num_compared,
      0 AS negatives
    FROM class_ranks
  ) AS gradient_terms
  GROUP BY group_id, label, score
) AS tied_gradients
  ON tied_gradients.group_id = predictions.group_id
  AND tied_gradients.label = predictions.label
  AND tied_gradients.score = predictions.score
