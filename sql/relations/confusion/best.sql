-- confusion: one row per list: the weights of true and false positives and negatives at the threshold, among the scores
-- of positives, at which a criterion is greatest; of equals the one with the fewest predicted positives.
SELECT
  c.list_id,
  c.threshold,
  c.tp,
  c.fp,
  c.tn,
  c.fn
FROM candidates AS c
JOIN (
  SELECT
    q.list_id,
    q.quality,
    MIN(q.tp + q.fp) AS predicted
  FROM candidates AS q
  JOIN (
    SELECT
      list_id,
      MAX(quality) AS quality
    FROM candidates
    GROUP BY list_id
  ) AS m ON m.list_id = q.list_id
  WHERE q.quality = m.quality
  GROUP BY q.list_id, q.quality
) AS b ON b.list_id = c.list_id
WHERE c.quality = b.quality AND c.tp + c.fp = b.predicted
