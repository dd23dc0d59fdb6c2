-- sign_flip_replicates: one row per group and replicate, in which every unit has a random sign, the same for all metrics and pairs.
-- Source: Fisher 1935, section 21.
-- Grain: cell, replicate
SELECT cell, replicate
FROM (
  SELECT
    r.replicate,
    w.*,
    CASE WHEN (w.seed + r.replicate * w.step) % 2147483647 < 1073741823 THEN CAST(-1 AS DOUBLE) ELSE CAST(1 AS DOUBLE) END AS sign
  FROM unit_difference_rows AS w
  CROSS JOIN (SELECT UNNEST(RANGE(1, $replicates + 1)) AS replicate) AS r
) AS drawn
GROUP BY cell, replicate
