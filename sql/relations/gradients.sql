-- gradients: one row per prediction with its part in a sub-gradient of the surrogate with respect to scores. Predictions of
-- one class and score share theirs, so that it does not depend on the order of rows.
-- Never zero: s.sharers.
SELECT
  p.group_id,
  p.doc_id,
  p.label,
  p.score,
  s.pairs / s.sharers AS part,
  MAX(s.counted) OVER (PARTITION BY p.group_id) AS counted,
  MAX(s.negatives) OVER (PARTITION BY p.group_id) AS negatives
FROM predictions AS p
JOIN (
  SELECT
    group_id,
    label,
    score,
    SUM(pairs) AS pairs,
    SUM(sharers) AS sharers,
    MAX(counted) AS counted,
    MAX(negatives) AS negatives
  FROM (
    SELECT
      group_id,
      label,
      score,
      CASE WHEN label = 1 THEN -pairs ELSE pairs END AS pairs,
      0 AS sharers,
      counted,
      negatives
    FROM misordered
    UNION ALL
    SELECT
      group_id,
      label,
      score,
      0 AS pairs,
      1 AS sharers,
      0 AS counted,
      0 AS negatives
    FROM rivals
  ) AS parts
  GROUP BY group_id, label, score
) AS s ON s.group_id = p.group_id AND s.label = p.label AND s.score = p.score
