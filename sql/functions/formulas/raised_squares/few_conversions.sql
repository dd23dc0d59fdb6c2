-- raised_squares: sum of squares of values, raised towards that at the overall ratio if values are 0 or 1 and fewer than 10 are of a kind.
-- Of conversions, a variant with few units of either kind may have a variance far too small: one conversion where 4 are expected. Its squares
-- rise by the whole gap at 0 units of the kind, by nothing at 10, which was chosen by simulation.
CREATE MACRO raised_squares(squares, square_terms, units, ratio, overall_ratio, rarer_units) AS
  CASE
    WHEN rarer_units < 10 AND squares > 1e-12 * square_terms AND ABS(squares - units * ratio * (1 - ratio)) <= 1e-9 * squares
      AND units * overall_ratio * (1 - overall_ratio) > squares
    THEN squares + (1 - rarer_units / 10) * (units * overall_ratio * (1 - overall_ratio) - squares)
    ELSE squares
  END
