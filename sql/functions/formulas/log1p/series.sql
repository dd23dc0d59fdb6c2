-- log1p: ln(1 + x) for x of at least 0, by its series if x is so small that 1 + x loses digits.
CREATE MACRO log1p(x) AS
  CASE
    WHEN x < 1e-4 THEN x * (1 - x * (1 / 2 - x / 3))
    ELSE LN(1 + x)
  END
