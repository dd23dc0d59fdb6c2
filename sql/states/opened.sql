-- opened: the rows of merged bins as predictions, once for each order of the rows of a bin, told apart by its number: tied, negatives first,
-- positives first, and both again where a bin that holds a single score is opened, too. What is in a higher bin has the higher score. A group
-- in which no bin holds several scores has no order to open.
SELECT
  b.group_id,
  o.order_number,
  c.label,
  CASE WHEN c.label = 1 THEN b.positives ELSE b.negatives END AS weight,
  2 * b.place + CASE WHEN o.first_label = c.label AND (b.is_open = 1 OR o.keeps_scores = 0) THEN 1 ELSE 0 END AS score
FROM (
  SELECT
    group_id,
    positives,
    negatives,
    CASE WHEN score_min = score_max THEN 0 ELSE 1 END AS is_open,
    MAX(CASE WHEN score_min = score_max THEN 0 ELSE 1 END) OVER (PARTITION BY group_id) AS any_open,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY bin) AS place
  FROM merged_bins
) AS b
CROSS JOIN (
  SELECT 0 AS order_number, -1 AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 1 AS order_number, 0 AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 2 AS order_number, 1 AS first_label, 1 AS keeps_scores
  UNION ALL SELECT 3 AS order_number, 0 AS first_label, 0 AS keeps_scores
  UNION ALL SELECT 4 AS order_number, 1 AS first_label, 0 AS keeps_scores
) AS o
CROSS JOIN (SELECT 1 AS label UNION ALL SELECT 0 AS label) AS c
WHERE CASE WHEN c.label = 1 THEN b.positives ELSE b.negatives END <> 0
  AND (o.keeps_scores = 1 OR b.any_open = 1)
