-- predictions_with_threshold: one row per prediction in a score range with a positive, and one per range without, with its threshold.
-- The threshold is the lowest score of a positive at or above its own score, NULL if there is none; it is the same for all of a range
-- without positives.
-- Engines: duckdb.
-- Grain: many per group_id
SELECT
  group_id,
  label,
  score,
  weight,
  MIN(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY group_id ORDER BY score DESC) AS threshold_score
FROM (
  SELECT
    p.group_id,
    p.label,
    p.score,
    p.weight
  FROM (
    SELECT
      group_id,
      label,
      score,
      weight,
      CAST(score_cell(height, max_range) AS BIGINT) AS stretch
    FROM (
      SELECT
        g.group_id,
        g.label,
        g.score,
        g.weight,
        SQRT(0.5 * CAST(g.score AS DOUBLE) - r.half_min_score) * r.ranges_per_unit AS height,
        r.max_range
      FROM predictions AS g
      CROSS JOIN range_scale AS r
    ) AS high
  ) AS p
  JOIN (
    SELECT
      group_id,
      score_range
    FROM score_ranges
    WHERE has_positives = 1
  ) AS s ON s.group_id = p.group_id AND s.score_range = p.stretch
  UNION ALL
  SELECT
    group_id,
    0 AS label,
    min_score AS score,
    weight
  FROM score_ranges
  WHERE has_positives = 0
) AS condensed
