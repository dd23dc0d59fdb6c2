-- exact: one row per input row, with the rank of its key among the keys of its stratum by hash, as a share of these keys.
-- Parts have exact sizes, which change as rows are added. The rows of a key are in one part. The number of keys is an ascending plus a
-- descending dense rank, less one, since not every engine counts distinct values in a window.
-- Grain: rows of source_rows
SELECT
  g.*,
  (DENSE_RANK() OVER (PARTITION BY g.stratum ORDER BY SUBSTR(MD5($salt || CAST(g.key AS TEXT)), 1, 8), g.key) - 0.5)
  / (
    DENSE_RANK() OVER (PARTITION BY g.stratum ORDER BY SUBSTR(MD5($salt || CAST(g.key AS TEXT)), 1, 8), g.key)
    + DENSE_RANK() OVER (PARTITION BY g.stratum ORDER BY SUBSTR(MD5($salt || CAST(g.key AS TEXT)), 1, 8) DESC, g.key DESC)
    - 1
  ) AS split
FROM source_rows AS g
