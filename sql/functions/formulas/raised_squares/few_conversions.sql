-- raised_squares: sum of squares of values, raised towards that at the rate of all variants if values are 0 or 1 and fewer than 10 are of a kind.
-- Of conversions, a variant with few units of either kind may have a variance far too small: one conversion where 4 are expected. Its squares
-- rise by the whole gap at 0 units of the kind, by nothing at 10, which was chosen by simulation.
CREATE MACRO raised_squares(squares, square_terms, units, ratio, rate, fewer) AS
  CASE
    WHEN fewer < 10 AND squares > 1e-12 * square_terms AND ABS(squares - units * ratio * (1 - ratio)) <= 1e-9 * squares
      AND units * rate * (1 - rate) > squares
    THEN squares + (1 - fewer / 10) * (units * rate * (1 - rate) - squares)
    ELSE squares
  END
