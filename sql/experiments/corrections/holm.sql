-- corrections: p-value that controls the family-wise error rate.
-- Source: Holm 1979.
-- Grain: rows of p_values
SELECT
  CASE
    WHEN p_value IS NOT NULL
    THEN MAX(CASE WHEN (many - place + 1) * p_value < 1 THEN (many - place + 1) * p_value ELSE 1 END) OVER (
      ORDER BY place
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM p_values
