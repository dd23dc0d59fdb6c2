-- calibration_bins: one row per group and bin of equally many predictions, with its weight and the sums of its scores and labels.
-- Bins are cut from the predictions in the order of scores. Equal scores are in one bin.
-- $bins: integer from 1 to 100000, default 10: number of bins.
-- Nonzero: total_rows.
-- Grain: group_id, bin
SELECT
  group_id,
  bin,
  SUM(weight) AS weight,
  SUM(weight * score) AS score_sum,
  SUM(label_sum) AS label_sum
FROM (
  SELECT
    group_id,
    score,
    weight,
    label_sum,
    1 + FLOOR($bins * rows_below / total_rows) AS bin
  FROM ranked_predictions
) AS binned
GROUP BY group_id, bin
