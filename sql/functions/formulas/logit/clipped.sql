-- logit: logarithm of the odds of a probability, clipped away from 0 and 1.
-- $eps: number above 0 to 0.5, default 2.220446049250313e-16: least distance from 0 and 1; the default is the precision of doubles.
CREATE MACRO logit(score) AS
  LN(CASE WHEN score <= $eps THEN $eps WHEN score >= 1 - $eps THEN 1 - $eps ELSE score END)
  - LN(CASE WHEN score <= $eps THEN 1 - $eps WHEN score >= 1 - $eps THEN $eps ELSE 1 - score END)
