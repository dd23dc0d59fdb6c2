-- numbered_bin_orderings: one row per group, ordering, label and bin of a rollup: number of group and ordering, weight, and score by bin.
-- The orderings are tied, negatives first, positives first, and the latter two again with bins of a single score ordered, too. Rows of
-- weight 0 are left out.
-- Grain: group_number, label, score
SELECT
  bins.group_number * 5 + orderings.order_number AS group_number, -- number of group and ordering: one key is fastest
  labels.label,
  CASE WHEN labels.label = 1 THEN bins.positives ELSE bins.negatives END AS weight, -- of the predictions of the label in the bin
  2 * bin_numbers.bin_number
    + CASE
      WHEN orderings.first_label IS NULL OR (bins.score_min = bins.score_max AND orderings.keeps_single_scores = 1) THEN 0
      WHEN orderings.first_label = labels.label THEN 1
      ELSE 0
    END AS score -- higher in higher bins, and for the label that is first
FROM bins
INNER JOIN (
  -- one row per bin
  SELECT bin, ROW_NUMBER() OVER (ORDER BY bin) AS bin_number
  FROM (
    -- one row per bin
    SELECT DISTINCT bin
    FROM bins
  ) AS distinct_bins
) AS bin_numbers ON bin_numbers.bin = bins.bin
CROSS JOIN (
  -- one row per ordering
  SELECT 0 AS order_number, 'tied' AS ordering, CAST(NULL AS INT) AS first_label, 1 AS keeps_single_scores
  UNION ALL SELECT 1 AS order_number, 'worst' AS ordering, 0 AS first_label, 1 AS keeps_single_scores
  UNION ALL SELECT 2 AS order_number, 'best' AS ordering, 1 AS first_label, 1 AS keeps_single_scores
  UNION ALL SELECT 3 AS order_number, 'worst of' AS ordering, 0 AS first_label, 0 AS keeps_single_scores
  UNION ALL SELECT 4 AS order_number, 'best of' AS ordering, 1 AS first_label, 0 AS keeps_single_scores
) AS orderings
CROSS JOIN (
  -- one row per label
  SELECT 1 AS label
  UNION ALL SELECT 0 AS label
) AS labels
WHERE CASE WHEN labels.label = 1 THEN bins.positives ELSE bins.negatives END <> 0
