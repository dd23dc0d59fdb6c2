-- auc_variance_ratio: variance of an AUC of exponential scores, divided by AUC (1 - AUC), from the numbers of positives and negatives.
-- The classes are exchanged, as for scores of the opposite sign. Simulated intervals of 20 and
-- 100 positives then cover the true area in 89 to 98 % of samples of normal scores, and in 81 to 96 % of exponential ones, benchmarks/interval_coverage.py.
-- Source: Hanley & McNeil 1982, equation 2.
CREATE MACRO auc_variance_ratio(area, positives, negatives) AS
  (1 + (positives - 1) * area / NULLIF(1 + area, 0) + (negatives - 1) * (1 - area) / NULLIF(2 - area, 0))
    / NULLIF(positives * negatives, 0)
