-- sorted_positives: one row per positive, with the weights of predictions and of positives sorted before it, over all groups.
-- The order is by group number, cell, and negatives before positives. The sort keys are integers below 2^48 in two columns, which fit
-- the eight bytes that DuckDB sorts fastest. Windows without ORDER BY add up weights in the sorted order of their subquery; weights
-- are integer numbers of units.
-- exact_weight(): default weights: weight as a number of units.
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
  exact_weight(weight) AS positives,
  weight * weight AS positive_squares,
  parts_upto - exact_weight(weight) AS weight_before,
  SUM(exact_weight(weight)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - exact_weight(weight) AS positives_before
FROM (
  SELECT
    group_id,
    score,
    weight,
    CAST(key_high AS BIGINT) * 65536 + key_low AS sort_key,
    CAST(head_before AS BIGINT) * 65536 + tail_before AS previous_key,
    parts_upto
  FROM (
    SELECT
      group_id,
      score,
      weight,
      key_high,
      key_low,
      LAG(key_high) OVER () AS head_before,
      LAG(key_low) OVER () AS tail_before,
      SUM(exact_weight(weight)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS parts_upto
    FROM (
      SELECT
        group_id,
        score,
        weight,
        CAST(FLOOR(key / 65536) AS UINTEGER) AS key_high,
        CAST(key - 65536 * FLOOR(key / 65536) AS USMALLINT) AS key_low
      FROM (
        SELECT
          group_id,
          score,
          weight,
          group_key + score_cell(height, max_cell) + COALESCE(CAST(label = 1 AS DOUBLE), 0) AS key
        FROM (
          SELECT
            p.group_id,
            p.label,
            p.score,
            p.weight,
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
