-- bootstrap_limits: one row per group: the limits of every metric, the estimate minus its bias, and t quantiles of standard errors around it.
-- Grain: group_id
SELECT
  observed_metrics.group_id,
  2 * observed_metrics.value - observed_metrics.value_mean - unit_counts.value_t_quantile * bootstrap_errors.value_se AS value_ci_low,
  2 * observed_metrics.value - observed_metrics.value_mean + unit_counts.value_t_quantile * bootstrap_errors.value_se AS value_ci_high
FROM observed_metrics
JOIN bootstrap_errors ON bootstrap_errors.group_id = observed_metrics.group_id
JOIN unit_counts ON unit_counts.group_id = observed_metrics.group_id
