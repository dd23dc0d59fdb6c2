-- calibration_bins: one row per group and bin of equally many predictions, equal scores together: weight, and weighted sums of scores and labels.
-- $bins: integer from 1 to 100000, default 10: number of bins.
-- Nonzero: total_rows.
-- Grain: group_id, bin
SELECT
  group_id,
  bin, -- number of the bin, from 1 at the lowest scores
  SUM(weight) AS weight, -- of the predictions in the bin
  SUM(weight * score) AS score_sum, -- sum of weight times score
  SUM(label_sum) AS label_sum -- sum of weight times label
FROM (
  -- one row per prediction, or per group and distinct score
  SELECT
    ranked_predictions.*,
    1 + FLOOR($bins * rows_below / total_rows) AS bin
  FROM ranked_predictions
) AS binned_predictions
GROUP BY group_id, bin
