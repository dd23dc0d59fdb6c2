-- TweedieDeviance: mean deviance of a Tweedie distribution with variance power between 1 and 2.
--     TweedieDeviance = 2 mean of (y^(2 - p) / ((1 - p) (2 - p)) - y s^(1 - p) / (1 - p) + s^(2 - p) / (2 - p))
-- The label is y, the score s and the variance power p. LN has a CASE of its own, since engines may compute it for rows that another branch decides.
-- Full name: Tweedie deviance.
-- Use when: labels are amounts with many zeros, such as claims or revenue.
-- $power: number above 1 to 1.999999, default 1.5: variance power.
-- Requires: labels from 0, positive scores, finite scores.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0.
-- Source: Jørgensen 1987; scikit-learn mean_tweedie_deviance.
-- Nonzero: 1 - $power, 2 - $power.
SELECT
  group_id,
  2 * SUM(
    weight * (
      CASE WHEN label > 0 THEN EXP((2 - $power) * LN(CASE WHEN label > 0 THEN label END)) ELSE 0 END
        / ((1 - $power) * (2 - $power))
      - label * EXP((1 - $power) * LN(CASE WHEN score > 0 THEN score END)) / (1 - $power)
      + EXP((2 - $power) * LN(CASE WHEN score > 0 THEN score END)) / (2 - $power)
    )
  ) / NULLIF(SUM(weight), 0) AS tweedie_deviance
FROM predictions
GROUP BY group_id
