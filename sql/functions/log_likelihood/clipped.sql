-- log_likelihood: logarithm of the probability that was given to what happened, kept away from 0 and 1.
-- $eps: number from 0 to 0.5, default 2.220446049250313e-16: least distance from 0 and 1; the default is that of doubles.
CREATE MACRO log_likelihood(label, score) AS
  LN(
    CASE
      WHEN (CASE WHEN label = 1 THEN score ELSE 1 - score END) <= $eps THEN $eps
      WHEN (CASE WHEN label = 1 THEN score ELSE 1 - score END) >= 1 - $eps THEN 1 - $eps
      ELSE CASE WHEN label = 1 THEN score ELSE 1 - score END
    END
  )
