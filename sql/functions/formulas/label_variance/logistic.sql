-- label_variance: the variance p (1 - p) of a label whose odds are p / (1 - p): the information that it has on their logarithm.
-- Nonzero: 1 + odds.
CREATE MACRO label_variance(odds) AS odds / (1 + odds) / (1 + odds)
