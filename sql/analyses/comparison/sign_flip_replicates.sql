-- sign_flip_replicates: one row per group and replicate, in which every unit has a random sign: sums of the signed differences.
-- For each: comparison (of a metric and a pair of systems)
-- Source: Fisher 1935, section 21.
-- Grain: cell, replicate
SELECT
  cell, -- number of the group
  replicate,
  SUM(difference_comparison * sign) AS total_comparison
FROM (
  -- one row per group, unit and replicate
  SELECT
    replicates.replicate,
    unit_difference_rows.*,
    CASE
      WHEN (unit_difference_rows.seed + replicates.replicate * unit_difference_rows.step) % 2147483647 < 1073741823
        THEN CAST(-1 AS DOUBLE)
      ELSE CAST(1 AS DOUBLE)
    END AS sign
  FROM unit_difference_rows
  CROSS JOIN (
    -- one row per replicate
    SELECT UNNEST(RANGE(1, $replicates + 1)) AS replicate
  ) AS replicates
) AS signed_differences
GROUP BY cell, replicate
