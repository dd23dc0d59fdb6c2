-- corrected_p_values: one row per metric and treatment: critical values, and p-value, also corrected for the family-wise error rate.
-- Source: Holm 1979.
-- Grain: metric, variant
SELECT
  p_value_ranks.*,
  CASE
    WHEN p_value IS NOT NULL
    THEN MAX(CASE WHEN (num_tests - p_rank + 1) * p_value < 1 THEN (num_tests - p_rank + 1) * p_value ELSE 1 END) OVER (
      ORDER BY p_rank
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM p_value_ranks
