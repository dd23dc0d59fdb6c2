-- told: one row per prediction of a stretch of scores in which a positive is, and one for all of each other stretch, which stand
-- between the same two positives, with the lowest score of a positive that is not below its own, NULL if there is none.
-- Engine: duckdb.
SELECT
  group_id,
  label,
  score,
  weight,
  MIN(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY group_id ORDER BY score DESC) AS lowest
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
      CAST(cell(height, last_stretch) AS BIGINT) AS stretch
    FROM (
      SELECT
        g.group_id,
        g.label,
        g.score,
        g.weight,
        SQRT(0.5 * CAST(g.score AS DOUBLE) - r.low) * r.scale AS height,
        r.last_stretch
      FROM predictions AS g
      CROSS JOIN ruler AS r
    ) AS high
  ) AS p
  JOIN (
    SELECT
      group_id,
      stretch
    FROM stretches
    WHERE has_positives = 1
  ) AS s ON s.group_id = p.group_id AND s.stretch = p.stretch
  UNION ALL
  SELECT
    group_id,
    0 AS label,
    score,
    weight
  FROM stretches
  WHERE has_positives = 0
) AS condensed
