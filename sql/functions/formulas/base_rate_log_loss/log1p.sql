-- base_rate_log_loss: sum of log loss of always predicting the base rate, positives / (positives + negatives).
-- Its logarithms are ln(1 + x), so that the digits of the larger class are kept where the other is rare.
CREATE MACRO base_rate_log_loss(positives, negatives) AS
  positives * log1p(negatives / NULLIF(positives, 0)) + negatives * log1p(positives / NULLIF(negatives, 0))
