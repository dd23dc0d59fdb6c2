-- sorted_positives: one row per positive, with the numbers of predictions and of positives sorted before it, over all groups.
-- The order is by group number, cell, and negatives before positives. The sort keys are integers below 2^48 in two columns, which fit
-- the eight bytes that DuckDB sorts fastest. Windows without ORDER BY count rows in the sorted order of their subquery.
-- Engines: duckdb.
-- Materialize: all predictions are sorted.
-- Grain: rows of predictions
SELECT
  group_id,
  score,
  sort_key,
  CASE
    WHEN previous_key > sort_key THEN CAST('DuckDB did not keep the order that rows were sorted in' AS BIGINT)
    WHEN previous_key = sort_key OR previous_key = sort_key - 1 OR LEAD(sort_key) OVER () = sort_key THEN 0
    ELSE 1
  END AS is_unique_cell,
  CAST(1 AS DOUBLE) AS positives,
  CAST(1 AS DOUBLE) AS positive_squares,
  CAST(rows_upto - 1 AS DOUBLE) AS weight_before,
  CAST(ROW_NUMBER() OVER () - 1 AS DOUBLE) AS positives_before
FROM (
  SELECT
    group_id,
    score,
    CAST(key_high AS BIGINT) * 65536 + key_low AS sort_key,
    CAST(head_before AS BIGINT) * 65536 + tail_before AS previous_key,
    rows_upto
  FROM (
    SELECT
      group_id,
      score,
      key_high,
      key_low,
      LAG(key_high) OVER () AS head_before,
      LAG(key_low) OVER () AS tail_before,
      ROW_NUMBER() OVER () AS rows_upto
    FROM (
      SELECT
        group_id,
        score,
        CAST(FLOOR(key / 65536) AS UINTEGER) AS key_high,
        CAST(key - 65536 * FLOOR(key / 65536) AS USMALLINT) AS key_low
      FROM (
        SELECT
          group_id,
          score,
          group_key + score_cell(height, max_cell) + COALESCE(CAST(label = 1 AS DOUBLE), 0) AS key
        FROM (
          SELECT
            p.group_id,
            p.label,
            p.score,
            (signed_fourth_root(p.score) - a.min_root) * a.cells_per_unit AS height,
            a.max_cell,
            (s.group_number - 1) * a.keys_per_group AS group_key
          FROM predictions AS p
          JOIN numbered_groups AS s ON s.group_id = p.group_id
          CROSS JOIN cell_scale AS a
        ) AS high
      ) AS numbered
      ORDER BY key_high, key_low
    ) AS ordered
  ) AS passed
  WHERE key_low % 2 = 1
) AS positive
