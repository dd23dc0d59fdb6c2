-- exact: one row per row of the input: its columns, and the position of its key by hash in the stratum, for parts of exact sizes.
-- The sizes hold for these rows, and parts change as rows are added. The rows of a key are in one part. The number of keys is an ascending
-- plus a descending dense rank, less one, since not every engine counts distinct values in a window.
-- Grain: rows of source_rows
SELECT
  source_rows.*,
  (
    DENSE_RANK() OVER (
      PARTITION BY source_rows.stratum ORDER BY SUBSTR(MD5($salt || CAST(source_rows.key AS TEXT)), 1, 8), source_rows.key
    ) - 0.5
  ) / (
    DENSE_RANK() OVER (
      PARTITION BY source_rows.stratum ORDER BY SUBSTR(MD5($salt || CAST(source_rows.key AS TEXT)), 1, 8), source_rows.key
    )
    + DENSE_RANK() OVER (
      PARTITION BY source_rows.stratum ORDER BY SUBSTR(MD5($salt || CAST(source_rows.key AS TEXT)), 1, 8) DESC, source_rows.key DESC
    )
    - 1
  ) AS split
FROM source_rows
