-- log_likelihood: logarithm of the predicted probability of the observed label, clipped away from 0 and 1.
-- That probability is score for label 1 and 1 - score for label 0. Both are |score + (label - 1)|, without a CASE, and exact for label 1, since
-- label - 1 is then 0.
-- $eps: number above 0 to 0.5, default 2.220446049250313e-16: least distance from 0 and 1; the default is the precision of doubles.
CREATE MACRO log_likelihood(label, score) AS
  LN(
    CASE
      WHEN ABS(score + (label - 1)) <= $eps THEN $eps
      WHEN ABS(score + (label - 1)) >= 1 - $eps THEN 1 - $eps
      ELSE ABS(score + (label - 1))
    END
  )
