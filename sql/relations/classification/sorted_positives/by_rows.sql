-- sorted_positives: one row per positive: score, sort key, if it is alone in its grid cell, and numbers of rows and positives before it.
-- The order is by group number, cell, and negatives before positives. The sort keys are integers below 2^48 in two columns, which fit the
-- eight bytes that DuckDB sorts fastest. Windows without ORDER BY count rows in the sorted order of their subquery.
-- The group follows from the sort key, so that its columns need not be sorted.
-- Engines: duckdb.
-- Materialize: all predictions are sorted.
-- Grain: rows of predictions
SELECT
  score,
  sort_key, -- even for negatives, one more for positives of the cell
  CASE
    WHEN previous_key > sort_key THEN CAST('DuckDB did not keep the order that rows were sorted in' AS BIGINT)
    WHEN previous_key = sort_key OR previous_key = sort_key - 1 OR LEAD(sort_key) OVER () = sort_key THEN 0
    ELSE 1
  END AS is_unique_cell, -- 1 if no other prediction is in the cell
  CAST(1 AS DOUBLE) AS positives,
  CAST(1 AS DOUBLE) AS positive_squares,
  CAST(cumulative_rows - 1 AS DOUBLE) AS weight_before, -- predictions before it
  CAST(ROW_NUMBER() OVER () - 1 AS DOUBLE) AS positives_before -- positives before it
FROM (
  -- one row per positive
  SELECT
    score,
    CAST(key_high AS BIGINT) * 65536 + key_low AS sort_key,
    CAST(key_high_before AS BIGINT) * 65536 + key_low_before AS previous_key,
    cumulative_rows
  FROM (
    -- one row per prediction
    SELECT
      sorted_keys.*,
      LAG(key_high) OVER () AS key_high_before,
      LAG(key_low) OVER () AS key_low_before,
      ROW_NUMBER() OVER () AS cumulative_rows
    FROM (
      -- one row per prediction, in the order of the keys
      SELECT
        score,
        CAST(FLOOR(key / 65536) AS UINTEGER) AS key_high,
        CAST(key - 65536 * FLOOR(key / 65536) AS USMALLINT) AS key_low
      FROM (
        -- one row per prediction
        SELECT
          score,
          group_key + score_cell(cell_position, max_cell) + COALESCE(CAST(label = 1 AS DOUBLE), 0) AS key
        FROM (
          -- one row per prediction
          SELECT
            predictions.label,
            predictions.score,
            (signed_fourth_root(predictions.score) - cell_scale.min_root) * cell_scale.cells_per_unit AS cell_position,
            cell_scale.max_cell,
            (numbered_groups.group_number - 1) * cell_scale.keys_per_group AS group_key
          FROM predictions
          JOIN numbered_groups ON numbered_groups.group_id = predictions.group_id
          CROSS JOIN cell_scale
        ) AS cell_positions
      ) AS sort_keys
      ORDER BY key_high, key_low
    ) AS sorted_keys
  ) AS cumulative_key_counts
  WHERE key_low % 2 = 1
) AS keyed_positives
