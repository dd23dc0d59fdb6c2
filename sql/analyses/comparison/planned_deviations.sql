-- planned_deviations: one row per metric and pair of systems, or per metric of the only system: stored units, means, and deviation of differences.
-- Of one system it is the deviation of the difference between two values that vary as its own do and have the correlation $correlation.
-- Grain: metric, baseline, system
SELECT
  system_pairs.metric, -- number of the metric
  system_pairs.baseline,
  system_pairs.system, -- NULL if one system is stored
  COUNT(
    CASE WHEN system_pairs.system IS NULL THEN baseline_values.value ELSE system_values.value - baseline_values.value END
  ) AS units, -- units with a value of both
  AVG(baseline_values.value) AS value_baseline,
  AVG(system_values.value) AS value_system,
  CASE
    WHEN system_pairs.system IS NULL THEN STDDEV_SAMP(baseline_values.value) * SQRT(2 * (1 - $correlation))
    ELSE STDDEV_SAMP(system_values.value - baseline_values.value)
  END AS deviation -- of the differences
FROM (
  -- one row per metric and pair of systems, or metric of the only system
  SELECT
    first_systems.metric,
    first_systems.system AS baseline,
    second_systems.system
  FROM stored_systems AS first_systems
  LEFT JOIN stored_systems AS second_systems
    ON second_systems.metric = first_systems.metric AND second_systems.system > first_systems.system
  WHERE second_systems.system IS NOT NULL OR first_systems.num_systems = 1
) AS system_pairs
INNER JOIN stored_values AS baseline_values
  ON baseline_values.metric = system_pairs.metric AND baseline_values.system IS NOT DISTINCT FROM system_pairs.baseline
LEFT JOIN stored_values AS system_values
  ON system_values.metric = system_pairs.metric
  AND system_values.system = system_pairs.system
  AND system_values.unit = baseline_values.unit
GROUP BY system_pairs.metric, system_pairs.baseline, system_pairs.system
ORDER BY system_pairs.metric, system_pairs.baseline, system_pairs.system
