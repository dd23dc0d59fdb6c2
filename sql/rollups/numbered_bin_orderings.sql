-- numbered_bin_orderings: one row per group, ordering, bin and label: the merged bins as predictions, in each possible order of the rows of a bin.
-- The orderings are tied, negatives first, positives first, and the latter two again with bins of a single score ordered, too. Higher
-- bins have higher scores. A group and an ordering have one number, since grouping by one column is fastest. Rows of weight 0 are left
-- out.
-- Grain: group_number, label, score
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
