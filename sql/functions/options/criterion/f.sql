-- criterion: F measure.
-- $beta: number from 0 to 10000, default 1: how many times recall counts as much as precision.
CREATE MACRO criterion(tp, fp, tn, fn) AS
  (1 + $beta * $beta) * tp / NULLIF((1 + $beta * $beta) * tp + $beta * $beta * fn + fp, 0)
