-- corrections: p that no test of several reaches by chance more often than one alone. Source: Holm 1979.
SELECT
  CASE
    WHEN p IS NOT NULL
    THEN MAX(CASE WHEN (many - place + 1) * p < 1 THEN (many - place + 1) * p ELSE 1 END) OVER (
      ORDER BY place
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM tests
