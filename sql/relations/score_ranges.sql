-- score_ranges: one row per group and range of neighbouring scores that has predictions.
-- Engines: duckdb.
-- Materialize: all predictions are aggregated.
-- Grain: group_id, score_range
SELECT
  group_id,
  CAST(score_cell(range_position, max_range) AS BIGINT) AS score_range, -- number of the range, ascending with the score
  MAX(CASE WHEN label = 1 THEN 1 ELSE 0 END) AS has_positives, -- 1 or 0
  MIN(min_score) AS min_score, -- lowest score of the range
  SUM(weight) AS weight -- of all its predictions
FROM (
  -- one row per prediction
  SELECT
    predictions.group_id,
    predictions.label,
    predictions.score AS min_score,
    predictions.weight,
    SQRT(0.5 * CAST(predictions.score AS DOUBLE) - range_scale.half_min_score) * range_scale.ranges_per_unit AS range_position,
    range_scale.max_range
  FROM predictions
  CROSS JOIN range_scale
) AS score_positions
GROUP BY group_id, CAST(score_cell(range_position, max_range) AS BIGINT)
