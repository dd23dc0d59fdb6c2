-- effective_trials: size n of a binomial sample whose share p has this variance, p (1 - p) / n; units if all values are equal.
-- Source: Wilson 1927; Kott 2017; Franco, Little, Louis & Slud 2019.
CREATE MACRO effective_trials(share, se, units, size, variance, ratio) AS CASE
  WHEN se <= 1e-12 OR share = 0 OR share = 1 THEN units
  ELSE share * (1 - share) / NULLIF(se * se, 0)
END
