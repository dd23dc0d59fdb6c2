-- p_value_ranks: one row per metric and treatment: critical values, p-value, and its rank, 1 the least.
-- Grain: metric, variant
SELECT
  critical_values.*,
  CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN p_value IS NULL THEN 1 ELSE 0 END, p_value, metric, variant) AS BIGINT) AS p_rank,
  COUNT(p_value) OVER () AS num_tests
FROM critical_values
