-- recalibration_influence: one row per prediction: its sampled unit, weight, and influence on the intercept and the slope of a recalibration.
-- Sampling unit: predictions.
-- Source: White 1982, Maximum likelihood estimation of misspecified models: squared influences add up to the sandwich variance.
-- Nonzero: 1 + shifted_odds, 1 + fitted_odds.
-- Grain: rows of prediction_logits
SELECT
  group_id,
  unit_id, -- what was sampled independently
  weight AS influence_weight, -- of the prediction
  1 AS num_units, -- the row is one prediction
  shifted_residual / NULLIF(information, 0) AS intercept_influence,
  fitted_residual * (information_0 * centered - information_1)
    / NULLIF(information_0 * information_2 - information_1 * information_1, 0) AS slope_influence
FROM (
  -- one row per prediction
  SELECT
    group_id, unit_id, weight, centered,
    (label - (1 - label) * shifted_odds) / (1 + shifted_odds) AS shifted_residual, -- label less its probability
    (label - (1 - label) * fitted_odds) / (1 + fitted_odds) AS fitted_residual,
    SUM(weight * label_variance(shifted_odds)) OVER (PARTITION BY group_id) AS information,
    SUM(weight * label_variance(fitted_odds)) OVER (PARTITION BY group_id) AS information_0,
    SUM(weight * label_variance(fitted_odds) * centered) OVER (PARTITION BY group_id) AS information_1,
    SUM(weight * label_variance(fitted_odds) * centered * centered) OVER (PARTITION BY group_id) AS information_2
  FROM (
    -- one row per prediction
    SELECT
      prediction_logits.group_id, prediction_logits.unit_id, prediction_logits.label,
      prediction_logits.weight,
      prediction_logits.logit - recalibrations.mean_logit AS centered, -- logit less its mean
      odds(prediction_logits.logit + recalibrations.intercept) AS shifted_odds, -- of the label 1, under the slope 1
      odds(recalibrations.level + recalibrations.slope * (prediction_logits.logit - recalibrations.mean_logit)) AS fitted_odds -- under the slope
    FROM prediction_logits
    JOIN recalibrations
      ON recalibrations.group_id = prediction_logits.group_id
  ) AS final_odds
) AS residuals_with_information
