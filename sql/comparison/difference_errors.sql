-- difference_errors: one row per group, pair of systems and metric, with the standard error of the mean difference and its sign counts.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
-- Grain: cell, pair, metric
SELECT
  cell,
  pair,
  metric,
  SQRT(COUNT(*) / NULLIF(COUNT(*) - 1, 0) * SUM(influence * influence)) AS se,
  SUM(fixed * fixed) AS squares,
  SUM(fixed) AS total,
  SUM(CASE WHEN fixed > 0 THEN 1 ELSE 0 END) AS above,
  SUM(CASE WHEN fixed = 0 THEN 1 ELSE 0 END) AS equal,
  SUM(CASE WHEN fixed < 0 THEN 1 ELSE 0 END) AS below
FROM unit_influence
GROUP BY cell, pair, metric
