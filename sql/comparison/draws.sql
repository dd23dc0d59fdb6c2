-- draws: one row per unit: two numbers below 2^31 - 1 from the digest of the seed and the unit, by which every replicate draws.
SELECT
  unit,
  CAST('0x' || SUBSTR(digest, 1, 8) AS BIGINT) % 2147483647 AS seed,
  CAST('0x' || SUBSTR(digest, 9, 8) AS BIGINT) % 2147483647 AS step
FROM (SELECT DISTINCT unit, MD5($seed || ':' || CAST(unit AS TEXT)) AS digest FROM signed) AS digests
