-- curved_step: a step of Newton's method times ln(1 + growth) / growth, and at most 3.2, for a curvature that grows by this much on it.
-- The curvature is taken to be exponential along the step, as it is in the tails of the logistic function, where Newton's method diverges.
CREATE MACRO curved_step(step, growth) AS
  step * CASE
    WHEN growth < -0.95 THEN 3.2
    ELSE COALESCE(LN(1 + growth) / NULLIF(growth, 0), 1)
  END
