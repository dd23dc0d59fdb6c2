-- binomial_trials: size n of a binomial sample whose share p has a variance: the n for which it is p (1 - p) / n.
CREATE MACRO binomial_trials(share, variance) AS share * (1 - share) / NULLIF(variance, 0)
