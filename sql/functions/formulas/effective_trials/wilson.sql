-- effective_trials: size n of a binomial sample whose share p has this variance, p (1 - p) / n; units if all values are equal.
-- Source: Wilson 1927; Kott 2017; Franco, Little, Louis & Slud 2019.
CREATE MACRO effective_trials(share, se, units, size, variance, ratio) AS CASE
  WHEN no_unit_differs(share, se) THEN units
  ELSE binomial_trials(share, se * se)
END
