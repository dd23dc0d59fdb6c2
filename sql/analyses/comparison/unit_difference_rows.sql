-- unit_difference_rows: one row per group and unit: its two random integers, and a column of differences per metric and pair of systems.
-- For each: comparison (of a metric and a pair of systems)
-- Grain: cell, unit
SELECT
  unit_influence.cell, -- number of the group
  unit_influence.unit,
  MAX(sign_seeds.seed) AS seed, -- determines the unit's sign in every replicate
  MAX(sign_seeds.step) AS step, -- determines the unit's sign in every replicate
  SUM(
    CASE
      WHEN unit_influence.metric = $metric_of_comparison AND unit_influence.pair = $pair_of_comparison
      THEN unit_influence.integer_difference
      ELSE 0.0
    END
  ) AS difference_comparison -- 0 if the unit has none
FROM unit_influence
INNER JOIN sign_seeds ON unit_influence.unit = sign_seeds.unit
GROUP BY unit_influence.cell, unit_influence.unit
