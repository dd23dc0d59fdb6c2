-- sorted_positives: one row per positive: score, sort key, if it is alone in its grid cell, and numbers of rows and positives before it.
-- The order is by group number, cell, and negatives before positives. The sort keys are integers below 2^48 in two columns, which fit the
-- eight bytes that DuckDB sorts fastest. Windows without ORDER BY count rows in the sorted order of their subquery.
-- The group follows from the sort key, so that its columns need not be sorted.
-- Engines: duckdb.
-- Materialize: all predictions are sorted.
-- Grain: rows of prediction_keys
SELECT
  score,
  sort_key, -- even for negatives, one more for positives of the cell
  unique_cell(previous_key, sort_key, LEAD(sort_key) OVER ()) AS is_unique_cell, -- 1 if no other prediction is in the cell
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
      FROM prediction_keys
      ORDER BY key_high, key_low
    ) AS sorted_keys
  ) AS cumulative_key_counts
  WHERE key_low % 2 = 1
) AS keyed_positives
