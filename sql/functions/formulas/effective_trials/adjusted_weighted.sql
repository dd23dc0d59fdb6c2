-- effective_trials: size n of a binomial sample whose share p has this variance, p (1 - p) / n, adjusted for few units and for weights.
-- It follows from the effective size if all values are equal, or 0 and 1.
-- As for units of equal weight, with the effective sample size in place of the number of units. The ratio is that of the squared quantiles
-- of Student's t at both.
-- Nonzero: ratio.
-- Source: Wilson 1927; Kott 2017; Franco, Little, Louis & Slud 2019.
CREATE MACRO effective_trials(share, se, units, size, variance, ratio) AS CASE
  WHEN no_unit_differs(share, se) THEN size / ratio
  WHEN variance * (size - 1) > share * (1 - share) * ratio
    AND se * se * size * (units - 1) <= share * (1 - share) * units * (1 + 1e-9)
    THEN (size - 1) / ratio
  ELSE binomial_trials(share, variance)
END
