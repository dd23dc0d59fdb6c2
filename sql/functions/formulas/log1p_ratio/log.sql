-- log1p_ratio: ln(1 + x) / x for x above 0, by its series if x is small.
CREATE MACRO log1p_ratio(x) AS
  CASE
    WHEN x < 1e-4 THEN 1 - x * (1 / 2 - x * (1 / 3 - x / 4))
    ELSE LN(CASE WHEN x > 0 THEN 1 + x ELSE 1 END) / NULLIF(x, 0)
  END
