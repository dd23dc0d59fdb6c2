-- recalibrations: one row per group: intercept of labels on logits under the slope 1, and level and slope of them, after a step of two fits.
-- Fits are logistic regressions, and steps those of Newton's method to the greatest likelihood, corrected for what the information grows.
-- Steps: 9 from recalibration_starts.
-- Nonzero: 1 + shifted_odds, 1 + fitted_odds.
-- Grain: group_id
SELECT
  group_id, mean_logit,
  intercept + curved_step(intercept_step, intercept_growth) AS intercept,
  curved_step(intercept_step, intercept_growth) AS intercept_change, -- the step
  level + curved_step(level_step, slope_growth) AS level, -- at the mean logit
  slope + curved_step(slope_step, slope_growth) AS slope,
  curved_step(slope_step, slope_growth) AS slope_change -- the step
FROM (
  -- one row per group
  SELECT
    group_id, mean_logit, intercept, intercept_step,
    CASE
      WHEN information_growth * intercept_step < (ABS(intercept_step) - 8) * information THEN ABS(intercept_step) - 8
      ELSE information_growth * intercept_step / NULLIF(information, 0)
    END AS intercept_growth, -- of the information; long steps end where it grows
    level, level_step, slope, slope_step,
    (
      growth_0 * level_step * level_step * level_step
      + 3 * growth_1 * level_step * level_step * slope_step
      + 3 * growth_2 * level_step * slope_step * slope_step
      + growth_3 * slope_step * slope_step * slope_step
    ) / NULLIF(gradient_0 * level_step + gradient_1 * slope_step, 0) AS slope_growth -- of the information on the step
  FROM (
    -- one row per group, with the steps of Newton's method
    SELECT
      group_id, mean_logit, intercept,
      gradient / NULLIF(information, 0) AS intercept_step,
      information, information_growth, level,
      (information_2 * gradient_0 - information_1 * gradient_1)
        / NULLIF(information_0 * information_2 - information_1 * information_1, 0) AS level_step,
      slope,
      (information_0 * gradient_1 - information_1 * gradient_0)
        / NULLIF(information_0 * information_2 - information_1 * information_1, 0) AS slope_step,
      gradient_0, gradient_1, growth_0, growth_1, growth_2, growth_3
    FROM (
      -- one row per group: derivatives of the log likelihoods
      SELECT
        group_id,
        MAX(mean_logit) AS mean_logit,
        MAX(intercept) AS intercept,
        SUM(shifted_residual) AS gradient,
        SUM(shifted_information) AS information,
        SUM(shifted_information * shifted_skew) AS information_growth,
        MAX(level) AS level,
        MAX(slope) AS slope,
        SUM(fitted_residual) AS gradient_0,
        SUM(fitted_residual * centered) AS gradient_1,
        SUM(fitted_information) AS information_0,
        SUM(fitted_information * centered) AS information_1,
        SUM(fitted_information * centered * centered) AS information_2,
        SUM(fitted_information * fitted_skew) AS growth_0,
        SUM(fitted_information * fitted_skew * centered) AS growth_1,
        SUM(fitted_information * fitted_skew * centered * centered) AS growth_2,
        SUM(fitted_information * fitted_skew * centered * centered * centered) AS growth_3
      FROM (
        -- one row per prediction
        SELECT
          group_id, mean_logit, intercept, level, slope, centered,
          weight * (label - (1 - label) * shifted_odds) / (1 + shifted_odds) AS shifted_residual, -- label less its probability
          weight * label_variance(shifted_odds) AS shifted_information,
          (1 - shifted_odds) / (1 + shifted_odds) AS shifted_skew, -- growth of information with the logit, relative to it
          weight * (label - (1 - label) * fitted_odds) / (1 + fitted_odds) AS fitted_residual,
          weight * label_variance(fitted_odds) AS fitted_information,
          (1 - fitted_odds) / (1 + fitted_odds) AS fitted_skew
        FROM (
          -- one row per prediction
          SELECT
            prediction_logits.group_id, prediction_logits.label, prediction_logits.weight,
            recalibration_starts.mean_logit, recalibration_starts.intercept,
            recalibration_starts.level, recalibration_starts.slope,
            prediction_logits.logit - recalibration_starts.mean_logit AS centered, -- logit less its mean
            odds(prediction_logits.logit + recalibration_starts.intercept) AS shifted_odds, -- of the label 1, under the slope 1
            odds(
              recalibration_starts.level + recalibration_starts.slope * (prediction_logits.logit - recalibration_starts.mean_logit)
            ) AS fitted_odds -- of the label 1, under the slope
          FROM prediction_logits
          JOIN recalibration_starts
            ON recalibration_starts.group_id = prediction_logits.group_id
        ) AS predicted_odds
      ) AS informed_odds
      GROUP BY group_id
    ) AS derivatives
  ) AS newton_steps
) AS curved_steps
