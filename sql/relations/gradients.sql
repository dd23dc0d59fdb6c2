-- gradients: one row per prediction with its part in a sub-gradient of the surrogate with respect to scores. Predictions of
-- one class and score share theirs, so that it does not depend on the order of rows.
SELECT
  p.list_id,
  p.doc_id,
  p.label,
  p.score,
  COALESCE(m.pairs, 0) / COUNT(*) OVER (PARTITION BY p.list_id, p.label, p.score) AS part,
  MAX(m.counted) OVER (PARTITION BY p.list_id) AS counted,
  MAX(m.negatives) OVER (PARTITION BY p.list_id) AS negatives
FROM predictions AS p
LEFT JOIN (
  SELECT
    list_id,
    label,
    score,
    SUM(CASE WHEN label = 1 THEN -pairs ELSE pairs END) AS pairs,
    MAX(counted) AS counted,
    MAX(negatives) AS negatives
  FROM misordered
  GROUP BY list_id, label, score
) AS m ON m.list_id = p.list_id AND m.label = p.label AND m.score = p.score
