-- stored_systems: one row per metric and system of stored values: number of systems.
-- Grain: metric, system
SELECT
  metric, -- number of the metric
  system, -- NULL without a column of systems
  COUNT(*) OVER (PARTITION BY metric) AS num_systems
FROM stored_values
GROUP BY metric, system
