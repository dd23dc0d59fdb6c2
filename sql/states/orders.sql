-- orders: the rows of merged bins as predictions, once for each order of the rows of a bin: tied, negatives first, positives first, and
-- both again where a bin that holds a single score is opened, too. What is in a higher bin has the higher score. A group and an order
-- have one number together, since to group by one is fastest, and what weighs nothing is left out.
SELECT
  b.group_number * 5 + o.order_number AS group_number,
  c.label,
  CASE WHEN c.label = 1 THEN b.positives ELSE b.negatives END AS weight,
  2 * p.place
    + CASE
      WHEN o.first_label IS NULL OR (b.score_min = b.score_max AND o.keeps_scores = 1) THEN 0
      WHEN o.first_label = c.label THEN 1
      ELSE 0
    END AS score
FROM bins AS b
INNER JOIN (SELECT bin, ROW_NUMBER() OVER (ORDER BY bin) AS place FROM (SELECT DISTINCT bin FROM bins) AS d) AS p ON p.bin = b.bin
CROSS JOIN (
  SELECT 0 AS order_number, 'tied' AS ordering, CAST(NULL AS INT) AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 1 AS order_number, 'worst' AS ordering, 0 AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 2 AS order_number, 'best' AS ordering, 1 AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 3 AS order_number, 'worst of' AS ordering, 0 AS first_label, 0 AS keeps_scores
  UNION ALL SELECT 4 AS order_number, 'best of' AS ordering, 1 AS first_label, 0 AS keeps_scores
) AS o
CROSS JOIN (SELECT 1 AS label UNION ALL SELECT 0 AS label) AS c
WHERE CASE WHEN c.label = 1 THEN b.positives ELSE b.negatives END <> 0
