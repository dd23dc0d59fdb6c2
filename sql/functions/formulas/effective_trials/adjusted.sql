-- effective_trials: size n of a binomial sample whose share p has this variance, p (1 - p) / n; no adjustment brings n below units - 1.
-- If no unit differs, all units are trials. If the variance is at most that of a proportion of as many units, it is not enlarged beyond the
-- latter, which is the greatest that a share can have.
-- Source: Wilson 1927; Kott 2017; Franco, Little, Louis & Slud 2019.
CREATE MACRO effective_trials(share, se, units, size, variance, ratio) AS CASE
  WHEN no_unit_differs(share, se) THEN units
  WHEN variance * (units - 1) > share * (1 - share) AND se * se * (units - 1) <= share * (1 - share) * (1 + 1e-9) THEN units - 1
  ELSE binomial_trials(share, variance)
END
