-- recalibration_starts: one row per group: mean logit, and where fits start: intercept of the base rate, and level and slope of equal scores.
-- A slope is the steeper the better if the scores of the classes don't overlap, and has no start.
-- Nonzero: 1 + odds(logit).
-- Grain: group_id
SELECT
  group_id,
  SUM(weight * logit) / NULLIF(SUM(weight), 0) AS mean_logit,
  LN(NULLIF(SUM(weight * label), 0) / NULLIF(SUM(weight * (1 - label)), 0))
    - LN(SUM(weight * odds(logit) / (1 + odds(logit))) / NULLIF(SUM(weight / (1 + odds(logit))), 0)) AS intercept, -- from predicted to observed odds
  0 AS intercept_change,
  LN(NULLIF(SUM(weight * label), 0) / NULLIF(SUM(weight * (1 - label)), 0)) AS level, -- logit of the base rate
  CASE
    WHEN MAX(CASE WHEN label = 0 THEN logit END) > MIN(CASE WHEN label = 1 THEN logit END)
      AND MAX(CASE WHEN label = 1 THEN logit END) > MIN(CASE WHEN label = 0 THEN logit END)
      THEN 0
  END AS slope, -- NULL if the classes do not overlap
  0 AS slope_change
FROM prediction_logits
GROUP BY group_id
