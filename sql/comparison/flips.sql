-- One row per replicate, in which the sign of every unit is drawn anew, the same one for all that is compared.
-- Source: Fisher 1935, section 21.
SELECT replicate
FROM (
  SELECT
    r.replicate,
    w.*,
    CASE WHEN (w.seed + r.replicate * w.step) % 2147483647 < 1073741823 THEN CAST(-1 AS DOUBLE) ELSE CAST(1 AS DOUBLE) END AS sign
  FROM wide AS w
  CROSS JOIN (SELECT UNNEST(RANGE(1, $replicates + 1)) AS replicate) AS r
) AS drawn
GROUP BY replicate
ORDER BY replicate
