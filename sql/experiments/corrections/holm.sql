-- corrected: the same with p as it is corrected for how many tests there are. Source: Holm 1979.
SELECT
  metric,
  variant,
  p,
  CASE
    WHEN p IS NOT NULL
    THEN MAX(CASE WHEN (many - place + 1) * p < 1 THEN (many - place + 1) * p ELSE 1 END) OVER (
      ORDER BY place
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM tests
