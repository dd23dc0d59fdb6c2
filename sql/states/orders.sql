-- orders: the rows of merged bins as predictions, once for each order of the rows of a bin: tied, negatives first, positives first, and
-- both again where a bin that holds a single score is opened, too. What is in a higher bin has the higher score.
SELECT
  b.*,
  o.ordering,
  c.label,
  CASE WHEN c.label = 1 THEN b.positives ELSE b.negatives END AS weight,
  2 * DENSE_RANK() OVER (ORDER BY b.bin)
    + CASE
      WHEN o.first_label IS NULL OR (b.score_min = b.score_max AND o.keeps_scores = 1) THEN 0
      WHEN o.first_label = c.label THEN 1
      ELSE 0
    END AS score
FROM bins AS b
CROSS JOIN (
  SELECT 'tied' AS ordering, CAST(NULL AS INT) AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 'worst' AS ordering, 0 AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 'best' AS ordering, 1 AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 'worst of' AS ordering, 0 AS first_label, 0 AS keeps_scores
  UNION ALL SELECT 'best of' AS ordering, 1 AS first_label, 0 AS keeps_scores
) AS o
CROSS JOIN (SELECT 1 AS label UNION ALL SELECT 0 AS label) AS c
