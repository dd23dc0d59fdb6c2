-- confusion: one row per group: the weights of true and false positives and negatives at the threshold, among the scores
-- of positives, at which a criterion is greatest; of equals the one with the fewest predicted positives.
SELECT
  c.group_id,
  c.threshold,
  c.tp,
  c.fp,
  c.tn,
  c.fn
FROM candidates AS c
JOIN (
  SELECT
    q.group_id,
    q.quality,
    MIN(q.tp + q.fp) AS predicted
  FROM candidates AS q
  JOIN (
    SELECT
      group_id,
      MAX(quality) AS quality
    FROM candidates
    GROUP BY group_id
  ) AS m ON m.group_id = q.group_id
  WHERE q.quality = m.quality
  GROUP BY q.group_id, q.quality
) AS b ON b.group_id = c.group_id
WHERE c.quality = b.quality AND c.tp + c.fp = b.predicted
