-- compared_areas: one row per group, pair of systems, area such as AUC and system: the area as a share, its variance, and sizes of classes.
-- Grain: cell, pair, metric, sign
SELECT
  mean_differences.cell, -- number of the group
  mean_differences.pair, mean_differences.metric,
  signs.sign, -- 1: the baseline, -1: the system
  (CASE WHEN signs.sign = 1 THEN mean_differences.value_baseline ELSE mean_differences.value_system END + mean_differences.area_width - 1)
    / mean_differences.area_width AS area, -- between 0 and 1
  CASE
    WHEN signs.sign = 1 AND difference_sums.baseline_squares > 1e-24
      THEN difference_sums.baseline_squares * difference_sums.units / NULLIF(difference_sums.units - 1, 0)
    WHEN signs.sign = -1 AND difference_sums.system_squares > 1e-24
      THEN difference_sums.system_squares * difference_sums.units / NULLIF(difference_sums.units - 1, 0)
    ELSE 0
  END AS variance, -- of the metric, 0 if it is only rounding errors
  mean_differences.area_width, -- 1, or 2 for metrics between -1 and 1
  mean_differences.positive_size, mean_differences.negative_size
FROM mean_differences
INNER JOIN difference_sums
  ON mean_differences.cell = difference_sums.cell
  AND mean_differences.pair = difference_sums.pair
  AND mean_differences.metric = difference_sums.metric
CROSS JOIN (
  -- one row per sign
  SELECT UNNEST([1, -1]) AS sign
) AS signs
WHERE mean_differences.area_width IS NOT NULL
