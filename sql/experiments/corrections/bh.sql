-- corrections: p-value that controls the false discovery rate.
-- Source: Benjamini & Hochberg 1995.
-- Grain: rows of p_values
SELECT
  CASE
    WHEN p_value IS NOT NULL
    THEN MIN(CASE WHEN p_value * many / place < 1 THEN p_value * many / place ELSE 1 END) OVER (
      ORDER BY place DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM p_values
