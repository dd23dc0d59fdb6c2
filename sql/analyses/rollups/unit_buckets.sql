-- unit_buckets: one row per row, with the number of the jackknife bucket of its unit, by a hash of the name of the unit.
-- For each: attribute
-- Grain: rows of bucketed_rows
SELECT
  attribute,
  CAST('0x' || SUBSTR(unit_digest, 1, 8) AS BIGINT) % 2147483647 % $n_buckets AS bucket
FROM (
  -- one row per row: a hash of its unit
  SELECT
    attribute,
    MD5($salt || CAST($unit AS TEXT)) AS unit_digest
  FROM bucketed_rows
) AS hashed_rows
