-- critical_values: one row per metric and treatment: critical values of intervals that are valid at every time, and p-value.
-- The p-value is the least p for which the interval of level 1 - p excludes 0.
-- Source: the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2021, theorem 2.2.
-- Grain: metric, variant
SELECT
  metric, variant, critical_value,
  critical_value AS relative_critical_value,
  CAST(NULL AS DOUBLE) AS mde_critical_value,
  CASE WHEN log_p > 0 THEN 1 ELSE exp_or_zero(log_p) END AS p_value
FROM (
  -- one row per metric and treatment
  SELECT
    metric, variant,
    SQRT(2 * (scale + 1) / scale * LN(SQRT(scale + 1) / alpha)) AS critical_value,
    LN(scale + 1) / 2 - statistic * statistic * scale / (2 * (scale + 1)) AS log_p
  FROM sequence_scales
) AS sequences
