-- corrections: p that allows for the share of false ones among those below it. Source: Benjamini & Hochberg 1995.
SELECT
  CASE
    WHEN p IS NOT NULL
    THEN MIN(CASE WHEN p * many / place < 1 THEN p * many / place ELSE 1 END) OVER (
      ORDER BY place DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
  END AS p_adjusted
FROM tests
