-- corrected_p_values: one row per metric and treatment: critical values, and p-value, which is not corrected.
-- Grain: metric, variant
SELECT
  critical_values.*,
  p_value AS p_adjusted
FROM critical_values
