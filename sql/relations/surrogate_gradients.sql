-- surrogate_gradients: one row per prediction, with its share of the sub-gradient of the surrogate with respect to scores.
-- Predictions of equal class and score have equal shares, so that the gradient does not depend on the order of rows.
-- Nonzero: s.num_sharing.
-- Grain: rows of predictions
SELECT
  p.group_id,
  p.doc_id,
  p.label,
  p.score,
  s.pairs / s.num_sharing AS gradient_share,
  MAX(s.num_compared) OVER (PARTITION BY p.group_id) AS num_compared,
  MAX(s.negatives) OVER (PARTITION BY p.group_id) AS negatives
FROM predictions AS p
JOIN (
  SELECT
    group_id,
    label,
    score,
    SUM(pairs) AS pairs,
    SUM(num_sharing) AS num_sharing,
    MAX(num_compared) AS num_compared,
    MAX(negatives) AS negatives
  FROM (
    SELECT
      group_id,
      label,
      score,
      CASE WHEN label = 1 THEN -num_pairs ELSE num_pairs END AS pairs,
      0 AS num_sharing,
      num_compared,
      negatives
    FROM misordered_pair_counts
    UNION ALL
    SELECT
      group_id,
      label,
      score,
      0 AS pairs,
      1 AS num_sharing,
      0 AS num_compared,
      0 AS negatives
    FROM class_ranks
  ) AS parts
  GROUP BY group_id, label, score
) AS s ON s.group_id = p.group_id AND s.label = p.label AND s.score = p.score
