-- signed_half_sums: one row per group, metric, pair of systems, half of its differences other than 0, at most 20, and choice of their signs: sum.
-- Of 20 differences there are 1,048,576 choices of signs, but only 1,024 of each half.
-- A choice is an integer, of which each bit is the sign of a difference. exact_sign_flips adds the sums of both halves.
-- Grain: cell, metric, pair, half, choice
SELECT
  numbered_differences.cell, -- number of the group
  numbered_differences.metric, numbered_differences.pair,
  numbered_differences.place % 2 AS half,
  choices.choice,
  MAX(numbered_differences.num_differences) AS num_differences, -- of both halves
  MAX(numbered_differences.total) AS total, -- sum of the differences of both halves
  SUM(
    CASE
      WHEN (choices.choice >> (numbered_differences.place // 2)) % 2 = 1 THEN -numbered_differences.integer_difference
      ELSE numbered_differences.integer_difference
    END
  ) AS signed_sum -- of the half under these signs
FROM (
  -- one row per group, metric, pair of systems and unit in which they differ
  SELECT
    cell, metric, pair, integer_difference,
    ROW_NUMBER() OVER (PARTITION BY cell, metric, pair ORDER BY unit) - 1 AS place,
    COUNT(*) OVER (PARTITION BY cell, metric, pair) AS num_differences,
    SUM(integer_difference) OVER (PARTITION BY cell, metric, pair) AS total
  FROM unit_influence
  WHERE integer_difference <> 0
) AS numbered_differences
CROSS JOIN (
  -- one row per choice of signs of ten differences
  SELECT UNNEST(RANGE(0, 1024)) AS choice
) AS choices
WHERE numbered_differences.num_differences <= 20
  AND choices.choice < 1 << CAST((numbered_differences.num_differences + 1 - numbered_differences.place % 2) // 2 AS INTEGER)
GROUP BY numbered_differences.cell, numbered_differences.metric, numbered_differences.pair, numbered_differences.place % 2, choices.choice
