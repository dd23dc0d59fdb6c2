-- recalibrations: one row per group: intercept of labels on logits under the slope 1, and level and slope of them, after a step of two fits.
-- Fits are logistic regressions, and steps those of Newton's method to the greatest likelihood, corrected for what the information grows.
-- Steps: 9 from recalibration_starts.
-- Nonzero: 1 + shifted_odds, 1 + fitted_odds.
-- Grain: group_id
SELECT
  group_id,
  mean_logit,
  intercept + curved_step(intercept_step, intercept_growth) AS intercept,
  curved_step(intercept_step, intercept_growth) AS intercept_change, -- the step
  level + curved_step(level_step, slope_growth) AS level, -- at the mean logit
  slope + curved_step(slope_step, slope_growth) AS slope,
  curved_step(slope_step, slope_growth) AS slope_change -- the step
FROM (
  -- one row per group
  SELECT
    group_id,
    mean_logit,
    intercept,
    intercept_step,
    CASE
      WHEN information_growth * intercept_step < (ABS(intercept_step) - 8) * information THEN ABS(intercept_step) - 8
      ELSE information_growth * intercept_step / NULLIF(information, 0)
    END AS intercept_growth, -- of the information; long steps end where it grows
    level,
    level_step,
    slope,
    slope_step,
    (
      growth_0 * level_step * level_step * level_step
      + 3 * growth_1 * level_step * level_step * slope_step
      + 3 * growth_2 * level_step * slope_step * slope_step
      + growth_3 * slope_step * slope_step * slope_step
    ) / NULLIF(gradient_0 * level_step + gradient_1 * slope_step, 0) AS slope_growth -- of the information on the step
  FROM (
    -- one row per group, with the steps of Newton's method
    SELECT
      group_id,
      mean_logit,
      intercept,
      gradient / NULLIF(information, 0) AS intercept_step,
      information,
      information_growth,
      level,
      (information_2 * gradient_0 - information_1 * gradient_1)
        / NULLIF(information_0 * information_2 - information_1 * information_1, 0) AS level_step,
      slope,
      (information_0 * gradient_1 - information_1 * gradient_0)
        / NULLIF(information_0 * information_2 - information_1 * information_1, 0) AS slope_step,
      gradient_0,
      gradient_1,
      growth_0,
      growth_1,
      growth_2,
      growth_3
    FROM (
      -- one row per group: derivatives of the log likelihoods
      SELECT
        group_id,
        MAX(mean_logit) AS mean_logit,
        MAX(intercept) AS intercept,
        SUM(weight * (label - (1 - label) * shifted_odds) / (1 + shifted_odds)) AS gradient,
        SUM(weight * shifted_odds / (1 + shifted_odds) / (1 + shifted_odds)) AS information,
        SUM(weight * shifted_odds / (1 + shifted_odds) / (1 + shifted_odds) * (1 - shifted_odds) / (1 + shifted_odds)) AS information_growth,
        MAX(level) AS level,
        MAX(slope) AS slope,
        SUM(weight * (label - (1 - label) * fitted_odds) / (1 + fitted_odds)) AS gradient_0,
        SUM(weight * (label - (1 - label) * fitted_odds) / (1 + fitted_odds) * centered) AS gradient_1,
        SUM(weight * fitted_odds / (1 + fitted_odds) / (1 + fitted_odds)) AS information_0,
        SUM(weight * fitted_odds / (1 + fitted_odds) / (1 + fitted_odds) * centered) AS information_1,
        SUM(weight * fitted_odds / (1 + fitted_odds) / (1 + fitted_odds) * centered * centered) AS information_2,
        SUM(weight * fitted_odds / (1 + fitted_odds) / (1 + fitted_odds) * (1 - fitted_odds) / (1 + fitted_odds)) AS growth_0,
        SUM(weight * fitted_odds / (1 + fitted_odds) / (1 + fitted_odds) * (1 - fitted_odds) / (1 + fitted_odds) * centered) AS growth_1,
        SUM(weight * fitted_odds / (1 + fitted_odds) / (1 + fitted_odds) * (1 - fitted_odds) / (1 + fitted_odds) * centered * centered) AS growth_2,
        SUM(
          weight * fitted_odds / (1 + fitted_odds) / (1 + fitted_odds) * (1 - fitted_odds) / (1 + fitted_odds) * centered * centered * centered
        ) AS growth_3
      FROM (
        -- one row per prediction
        SELECT
          prediction_logits.group_id,
          prediction_logits.label,
          prediction_logits.weight,
          recalibration_starts.mean_logit,
          recalibration_starts.intercept,
          recalibration_starts.level,
          recalibration_starts.slope,
          prediction_logits.logit - recalibration_starts.mean_logit AS centered, -- logit less its mean
          odds(prediction_logits.logit + recalibration_starts.intercept) AS shifted_odds, -- of the label 1, under the slope 1
          odds(
            recalibration_starts.level + recalibration_starts.slope * (prediction_logits.logit - recalibration_starts.mean_logit)
          ) AS fitted_odds -- of the label 1, under the slope
        FROM prediction_logits
        JOIN recalibration_starts
          ON recalibration_starts.group_id = prediction_logits.group_id
      ) AS predicted_odds
      GROUP BY group_id
    ) AS derivatives
  ) AS newton_steps
) AS curved_steps
