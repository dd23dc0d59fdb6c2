-- absolute_difference_ranks: one row per group, pair of systems, metric and absolute difference: units, better units, and average rank.
-- Differences of 0 are left out.
-- Grain: many per cell, pair, metric
SELECT
  cell, -- number of the group
  pair, metric,
  num_better, -- units in which the system is better
  num_units, -- units of this absolute difference
  SUM(num_units) OVER (
    PARTITION BY cell, pair, metric ORDER BY absolute_difference ROWS UNBOUNDED PRECEDING
  ) - (num_units - 1) / 2 AS average_rank -- 1 for the smallest; ties share their mean
FROM (
  -- one row per group, pair of systems, metric and absolute difference
  SELECT
    cell, pair, metric,
    ABS(integer_difference) AS absolute_difference,
    COUNT(*) AS num_units,
    SUM(CASE WHEN integer_difference > 0 THEN 1 ELSE 0 END) AS num_better
  FROM unit_influence
  WHERE integer_difference <> 0
  GROUP BY cell, pair, metric, ABS(integer_difference)
) AS absolute_differences
