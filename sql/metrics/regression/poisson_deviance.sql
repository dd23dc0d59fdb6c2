-- PoissonDeviance: mean deviance of a Poisson distribution whose mean is the score.
--     PoissonDeviance = 2 mean of (y ln(y / s) - y + s), with y ln(y / s) = 0 for a label y of 0
-- LN has a CASE of its own, since engines may compute it for rows that another branch decides.
-- Full name: Poisson deviance.
-- Use when: labels are counts, such as orders per day.
-- Requires: labels from 0, positive scores, finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn mean_poisson_deviance.
-- Nonzero: score.
SELECT
  group_id,
  2 * SUM(weight * (
    CASE WHEN label > 0 THEN label * LN(CASE WHEN label > 0 AND score > 0 THEN label / score END) ELSE 0 END
      - label + score
  ))
    / NULLIF(SUM(weight), 0) AS poisson_deviance
FROM predictions
GROUP BY group_id
