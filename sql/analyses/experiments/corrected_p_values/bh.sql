-- corrected_p_values: one row per metric and treatment: critical values, and p-value, also corrected for the false discovery rate.
-- Source: Benjamini & Hochberg 1995.
-- Grain: metric, variant
SELECT
  p_value_ranks.*,
  CASE
    WHEN p_value IS NOT NULL
    THEN MIN(CASE WHEN p_value * num_tests / p_rank < 1 THEN p_value * num_tests / p_rank ELSE 1 END) OVER (
      ORDER BY p_rank DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM p_value_ranks
