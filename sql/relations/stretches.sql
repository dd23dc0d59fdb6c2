-- stretches: one row per stretch of the score axis in which a group has predictions, with whether one of them is positive, the
-- lowest score, and what they weigh.
-- Engine: duckdb.
-- Costly: all predictions are added up.
SELECT
  group_id,
  CAST(cell(height, last_stretch) AS BIGINT) AS stretch,
  MAX(CASE WHEN label = 1 THEN 1 ELSE 0 END) AS has_positives,
  MIN(score) AS score,
  SUM(weight) AS weight
FROM (
  SELECT
    p.group_id,
    p.label,
    p.score,
    p.weight,
    SQRT(0.5 * CAST(p.score AS DOUBLE) - r.low) * r.scale AS height,
    r.last_stretch
  FROM predictions AS p
  CROSS JOIN ruler AS r
) AS high
GROUP BY group_id, CAST(cell(height, last_stretch) AS BIGINT)
