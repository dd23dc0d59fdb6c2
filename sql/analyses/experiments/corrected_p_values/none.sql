-- corrected_p_values: one row per metric and treatment: effect, p-value, and the same as corrected p-value.
-- Grain: metric, variant
SELECT
  p_values.*,
  p_value AS p_adjusted
FROM p_values
