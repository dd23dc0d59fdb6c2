-- score_ranges: one row per group and non-empty score range, with its lowest score, its weight, and whether it has a positive.
-- Engines: duckdb.
-- Materialize: all predictions are aggregated.
-- Grain: group_id, score_range
SELECT
  group_id,
  CAST(score_cell(range_position, max_range) AS BIGINT) AS score_range,
  MAX(CASE WHEN label = 1 THEN 1 ELSE 0 END) AS has_positives,
  MIN(min_score) AS min_score,
  SUM(weight) AS weight
FROM (
  SELECT
    p.group_id,
    p.label,
    p.score AS min_score,
    p.weight,
    SQRT(0.5 * CAST(p.score AS DOUBLE) - r.half_min_score) * r.ranges_per_unit AS range_position,
    r.max_range
  FROM predictions AS p
  CROSS JOIN range_scale AS r
) AS high
GROUP BY group_id, CAST(score_cell(range_position, max_range) AS BIGINT)
