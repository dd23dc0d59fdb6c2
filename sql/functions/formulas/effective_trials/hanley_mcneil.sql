-- effective_trials: number n of trials for which p (1 - p) / n is the variance of AUC, DeLong's or, if greater, Hanley and McNeil's.
-- DeLong's variance is far too small if the few positives are all near the top. The ratio is the variance of Hanley and McNeil over
-- AUC (1 - AUC), at an AUC shrunk towards 1/2.
-- Nonzero: ratio.
-- Source: Hanley & McNeil 1982; Wilson 1927.
CREATE MACRO effective_trials(share, se, units, size, variance, ratio) AS CASE
  WHEN se * se > share * (1 - share) * ratio AND se > 1e-12 AND share > 0 AND share < 1 THEN binomial_trials(share, se * se)
  WHEN se >= 0 THEN 1 / ratio
END
