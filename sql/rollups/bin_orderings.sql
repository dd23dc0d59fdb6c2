-- bin_orderings: one row per group, ordering, bin and label: the merged bins as predictions, in each possible order of the rows of a bin.
-- The orderings are tied, negatives first, positives first, and the latter two again with bins of a single score ordered, too. Higher
-- bins have higher scores. Groups whose bins all have a single score have no rows of the last two.
-- Grain: group_id, order_number, label, score
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
