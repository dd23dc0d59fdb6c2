-- unit_difference_rows: one row per group and unit: its two random integers, and a column of differences per metric and pair of systems.
-- Python adds a column d_0 for the first metric and pair of systems, and so for each.
-- Grain: cell, unit
SELECT
  unit_influence.cell, -- number of the group
  unit_influence.unit,
  MAX(sign_seeds.seed) AS seed, -- determines the unit's sign in every replicate
  MAX(sign_seeds.step) AS step -- determines the unit's sign in every replicate
FROM unit_influence
INNER JOIN sign_seeds ON unit_influence.unit = sign_seeds.unit
GROUP BY unit_influence.cell, unit_influence.unit
