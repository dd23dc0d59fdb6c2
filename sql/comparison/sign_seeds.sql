-- sign_seeds: one row per unit, with two integers below 2^31 - 1 from the hash of seed and unit, which determine its sign in every replicate.
-- Grain: unit
SELECT
  unit,
  CAST('0x' || SUBSTR(digest, 1, 8) AS BIGINT) % 2147483647 AS seed,
  CAST('0x' || SUBSTR(digest, 9, 8) AS BIGINT) % 2147483647 AS step
FROM (SELECT DISTINCT unit, MD5($seed || ':' || CAST(unit AS TEXT)) AS digest FROM unit_influence) AS digests
