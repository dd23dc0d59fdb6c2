-- sorted_positives: one row per positive: score, sort key, if it is alone in its grid cell, weight, and weights of rows and positives before it.
-- The order is by group number, cell, and negatives before positives. The sort keys are integers below 2^48 in two columns, which fit the
-- eight bytes that DuckDB sorts fastest. Windows without ORDER BY add up weights in the sorted order of their subquery.
-- exact_weight(): default weights: weight as a number of units.
-- The group follows from the sort key, so that its columns need not be sorted.
-- Engines: duckdb.
-- Materialize: all predictions are sorted.
-- Grain: rows of prediction_keys
SELECT
  score,
  sort_key, -- even for negatives, one more for positives of the cell
  unique_cell(previous_key, sort_key, LEAD(sort_key) OVER ()) AS is_unique_cell, -- 1 if no other prediction is in the cell
  exact_weight(weight) AS positives, -- units of its weight
  weight * weight AS positive_squares,
  cumulative_units - exact_weight(weight) AS weight_before, -- units of the predictions before it
  SUM(exact_weight(weight)) OVER (
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) - exact_weight(weight) AS positives_before -- units of the positives before it
FROM (
  -- one row per positive
  SELECT
    cumulative_key_weights.*,
    CAST(key_high AS BIGINT) * 65536 + key_low AS sort_key,
    CAST(key_high_before AS BIGINT) * 65536 + key_low_before AS previous_key
  FROM (
    -- one row per prediction
    SELECT
      sorted_keys.*,
      LAG(key_high) OVER () AS key_high_before,
      LAG(key_low) OVER () AS key_low_before,
      SUM(exact_weight(weight)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS cumulative_units
    FROM (
      -- one row per prediction, in the order of the keys
      SELECT
        score, weight,
        CAST(FLOOR(key / 65536) AS UINTEGER) AS key_high,
        CAST(key - 65536 * FLOOR(key / 65536) AS USMALLINT) AS key_low
      FROM prediction_keys
      ORDER BY key_high, key_low
    ) AS sorted_keys
  ) AS cumulative_key_weights
  WHERE key_low % 2 = 1
) AS keyed_positives
