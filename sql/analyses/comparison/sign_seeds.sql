-- sign_seeds: one row per unit: two integers from a hash, which determine its sign in every replicate.
-- Grain: unit
SELECT
  unit,
  CAST('0x' || SUBSTR(digest, 1, 8) AS BIGINT) % 2147483647 AS seed, -- below 2^31 - 1, from the hash of seed and unit
  CAST('0x' || SUBSTR(digest, 9, 8) AS BIGINT) % 2147483647 AS step -- below 2^31 - 1, from the same hash
FROM (
  -- one row per unit
  SELECT DISTINCT unit, MD5($seed || ':' || CAST(unit AS TEXT)) AS digest
  FROM unit_influence
) AS unit_hashes
