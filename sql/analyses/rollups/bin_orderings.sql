-- bin_orderings: one row per group, ordering, label and bin of a rollup: its weight, and score by the order of bins in this ordering.
-- The orderings are tied, negatives first, positives first, and the latter two again with bins of a single score ordered, too. Groups
-- whose bins all have a single score have no rows of the last two.
-- Grain: group_id, order_number, label, score
SELECT
  ordered_bins.group_id,
  orderings.order_number, -- number of the ordering, from 0
  labels.label,
  CASE
    WHEN labels.label = 1 THEN ordered_bins.positives
    ELSE ordered_bins.negatives
  END AS weight, -- of the predictions of the label in the bin
  2 * ordered_bins.bin_number
    + CASE
      WHEN orderings.first_label = labels.label AND (ordered_bins.holds_several_scores = 1 OR orderings.keeps_single_scores = 0) THEN 1
      ELSE 0
    END AS score -- higher in higher bins, and for the label that is first
FROM (
  -- one row per group and bin
  SELECT
    group_id, positives, negatives,
    CASE WHEN score_min = score_max THEN 0 ELSE 1 END AS holds_several_scores,
    MAX(CASE WHEN score_min = score_max THEN 0 ELSE 1 END) OVER (PARTITION BY group_id) AS group_holds_several_scores,
    ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY bin) AS bin_number
  FROM merged_bins
) AS ordered_bins
CROSS JOIN (
  -- one row per ordering
  SELECT 0 AS order_number, -1 AS first_label, 1 AS keeps_single_scores
  UNION ALL SELECT 1 AS order_number, 0 AS first_label, 1 AS keeps_single_scores
  UNION ALL SELECT 2 AS order_number, 1 AS first_label, 1 AS keeps_single_scores
  UNION ALL SELECT 3 AS order_number, 0 AS first_label, 0 AS keeps_single_scores
  UNION ALL SELECT 4 AS order_number, 1 AS first_label, 0 AS keeps_single_scores
) AS orderings
CROSS JOIN (
  -- one row per label
  SELECT 1 AS label
  UNION ALL SELECT 0 AS label
) AS labels
WHERE CASE WHEN labels.label = 1 THEN ordered_bins.positives ELSE ordered_bins.negatives END <> 0
  AND (orderings.keeps_single_scores = 1 OR ordered_bins.group_holds_several_scores = 1)
