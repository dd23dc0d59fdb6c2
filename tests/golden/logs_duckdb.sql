-- sqlrank 0.1.0 for DuckDB: SNIPS, DR, ESS, MeanWeight, one row per campaign
-- reads: shop.ads.logged (logs)
-- settings: confidence=0.95
-- made by: sqlrank sql SNIPS DR ESS MeanWeight --input logs=shop.ads.logged --by campaign --confidence 0.95
WITH logs AS NOT MATERIALIZED (
  -- One row per logged action, with its reward. (shop.ads.logged)
  SELECT
    "campaign",
    CAST(reward AS DOUBLE) AS reward,
    CAST(propensity AS DOUBLE) AS propensity,
    CAST(target_propensity AS DOUBLE) AS target_propensity,
    CAST(predicted_reward AS DOUBLE) AS predicted_reward,
    CAST(expected_reward AS DOUBLE) AS expected_reward
  FROM shop.ads.logged
), logs_metrics AS (
  -- One row per campaign.
  SELECT
    "campaign",
    -- SNIPS: IPS divided by the mean weight: steadier, and between the least reward and the
    -- greatest.
    SUM((target_propensity / NULLIF(propensity, 0)) * reward)
    / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips,
    -- DR: doubly robust: the rewards predicted for the target policy, and IPS of the errors of the
    -- predictions.
    SUM(expected_reward + (target_propensity / NULLIF(propensity, 0)) * (reward - predicted_reward))
    / NULLIF(COUNT(*), 0) AS dr,
    -- ESS: effective sample size: the number of actions of the target policy to which the logged
    -- ones are equivalent.
    SUM(target_propensity / NULLIF(propensity, 0)) * SUM(target_propensity / NULLIF(propensity, 0))
    / NULLIF(SUM((target_propensity / NULLIF(propensity, 0)) * (target_propensity / NULLIF(propensity, 0))), 0) AS ess,
    -- MeanWeight: mean ratio of the probability of an action under the target to that under the
    -- logged policy, 1 if the logs are sound.
    SUM(target_propensity / NULLIF(propensity, 0)) / NULLIF(COUNT(*), 0) AS mean_weight,
    1 / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips_by_1,
    (
      -(
        SUM((target_propensity / NULLIF(propensity, 0)) * reward)
        / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0)
      )
    )
    / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips_by_2,
    1 / NULLIF(COUNT(*), 0) AS dr_by_1,
    (
      -(
        SUM(expected_reward + (target_propensity / NULLIF(propensity, 0)) * (reward - predicted_reward))
        / NULLIF(COUNT(*), 0)
      )
    )
    / NULLIF(COUNT(*), 0) AS dr_by_2,
    (-(SUM(target_propensity / NULLIF(propensity, 0)) / NULLIF(COUNT(*), 0))) / NULLIF(COUNT(*), 0) AS mean_weight_by_2
  FROM logs
  GROUP BY "campaign"
), logs_influence AS (
  -- One row per unit: its influence on every metric.
  SELECT
    logs."campaign",
    logs_metrics.snips_by_1 * COALESCE((logs.target_propensity / NULLIF(logs.propensity, 0)) * logs.reward, 0)
    + logs_metrics.snips_by_2 * COALESCE(logs.target_propensity / NULLIF(logs.propensity, 0), 0) AS snips,
    logs_metrics.dr_by_1 * COALESCE(
      logs.expected_reward
      + (logs.target_propensity / NULLIF(logs.propensity, 0)) * (logs.reward - logs.predicted_reward),
      0
    )
    + logs_metrics.dr_by_2 AS dr,
    logs_metrics.dr_by_1 * COALESCE(logs.target_propensity / NULLIF(logs.propensity, 0), 0)
    + logs_metrics.mean_weight_by_2 AS mean_weight
  FROM logs
  INNER JOIN logs_metrics ON logs_metrics."campaign" IS NOT DISTINCT FROM logs."campaign"
), logs_standard_errors AS (
  -- One row per campaign: its units, and standard errors.
  SELECT
    "campaign",
    COUNT(*) AS units,
    SQRT(COUNT(snips) / NULLIF(COUNT(snips) - 1, 0) * SUM(snips * snips)) AS snips_se,
    SQRT(COUNT(dr) / NULLIF(COUNT(dr) - 1, 0) * SUM(dr * dr)) AS dr_se,
    SQRT(COUNT(mean_weight) / NULLIF(COUNT(mean_weight) - 1, 0) * SUM(mean_weight * mean_weight)) AS mean_weight_se,
    SUM(snips * snips * snips * snips) / NULLIF(SUM(snips * snips) * SUM(snips * snips), 0) AS snips_concentration,
    SUM(dr * dr * dr * dr) / NULLIF(SUM(dr * dr) * SUM(dr * dr), 0) AS dr_concentration,
    SUM(mean_weight * mean_weight * mean_weight * mean_weight)
    / NULLIF(SUM(mean_weight * mean_weight) * SUM(mean_weight * mean_weight), 0) AS mean_weight_concentration
  FROM logs_influence
  GROUP BY "campaign"
), degrees_of_freedom AS (
  -- One row per campaign: the values and the inverse of the degrees of freedom of each interval.
  SELECT
    logs_standard_errors."campaign", logs_standard_errors.units, logs_standard_errors.snips_se,
    logs_standard_errors.dr_se, logs_standard_errors.mean_weight_se,
    logs_standard_errors.snips_concentration,
    CASE
      WHEN logs_standard_errors.snips_concentration < 2
      AND (logs_standard_errors.units - 1) * (logs_standard_errors.snips_concentration - 1 / NULLIF(logs_standard_errors.units, 0)) > 2
      THEN CASE
        WHEN 3 * (logs_standard_errors.snips_concentration - 1 / NULLIF(logs_standard_errors.units, 0)) > 2
        THEN 3
        ELSE 2 / NULLIF(logs_standard_errors.snips_concentration - 1 / NULLIF(logs_standard_errors.units, 0), 0)
      END
      WHEN logs_standard_errors.units > 4 THEN logs_standard_errors.units - 1
      ELSE 3
    END AS snips_freedom,
    logs_standard_errors.dr_concentration,
    CASE
      WHEN logs_standard_errors.dr_concentration < 2
      AND (logs_standard_errors.units - 1) * (logs_standard_errors.dr_concentration - 1 / NULLIF(logs_standard_errors.units, 0)) > 2
      THEN CASE
        WHEN 3 * (logs_standard_errors.dr_concentration - 1 / NULLIF(logs_standard_errors.units, 0)) > 2
        THEN 3
        ELSE 2 / NULLIF(logs_standard_errors.dr_concentration - 1 / NULLIF(logs_standard_errors.units, 0), 0)
      END
      WHEN logs_standard_errors.units > 4 THEN logs_standard_errors.units - 1
      ELSE 3
    END AS dr_freedom,
    logs_standard_errors.mean_weight_concentration,
    CASE
      WHEN logs_standard_errors.mean_weight_concentration < 2
      AND (logs_standard_errors.units - 1) * (logs_standard_errors.mean_weight_concentration - 1 / NULLIF(logs_standard_errors.units, 0)) > 2
      THEN CASE
        WHEN 3 * (logs_standard_errors.mean_weight_concentration - 1 / NULLIF(logs_standard_errors.units, 0)) > 2
        THEN 3
        ELSE 2
        / NULLIF(logs_standard_errors.mean_weight_concentration - 1 / NULLIF(logs_standard_errors.units, 0), 0)
      END
      WHEN logs_standard_errors.units > 4 THEN logs_standard_errors.units - 1
      ELSE 3
    END AS mean_weight_freedom,
    logs_metrics.snips AS snips_value,
    logs_metrics.dr AS dr_value,
    logs_metrics.mean_weight AS mean_weight_value,
    1 / NULLIF(logs_standard_errors.units - 1, 0) AS units_inverse
  FROM logs_standard_errors
  INNER JOIN logs_metrics
    ON logs_metrics."campaign" IS NOT DISTINCT FROM logs_standard_errors."campaign"
), logs_t_quantiles AS (
  -- One row per campaign: the metrics, and quantiles of Student's t.
  SELECT
    "campaign", units, snips_se, dr_se, mean_weight_se, snips_value, dr_value, mean_weight_value,
    CASE
      WHEN units > 4
      THEN snips_se * snips_se * (units / NULLIF(units - 1, 0) * ((units - 1) / NULLIF(units, 0))) * (
        1
        + CASE
          WHEN snips_concentration < 2 AND snips_concentration * units > 3
          THEN 2 * (snips_concentration - 3 / NULLIF(units, 0))
          ELSE 0
        END
      ) * (
        (snips_freedom + 0.8999505931404055e0) / NULLIF(snips_freedom - 1.5207788172066563e0, 0) * ((units - 1 - 1.5207788172066563e0) / NULLIF(units - 1 + 0.8999505931404055e0, 0))
      )
      ELSE snips_se * snips_se
    END AS snips_variance,
    CASE
      WHEN units > 4
      THEN dr_se * dr_se * (units / NULLIF(units - 1, 0) * ((units - 1) / NULLIF(units, 0))) * (
        1
        + CASE
          WHEN dr_concentration < 2 AND dr_concentration * units > 3
          THEN 2 * (dr_concentration - 3 / NULLIF(units, 0))
          ELSE 0
        END
      ) * (
        (dr_freedom + 0.8999505931404055e0) / NULLIF(dr_freedom - 1.5207788172066563e0, 0) * ((units - 1 - 1.5207788172066563e0) / NULLIF(units - 1 + 0.8999505931404055e0, 0))
      )
      ELSE dr_se * dr_se
    END AS dr_variance,
    CASE
      WHEN units > 4
      THEN mean_weight_se * mean_weight_se * (units / NULLIF(units - 1, 0) * ((units - 1) / NULLIF(units, 0))) * (
        1
        + CASE
          WHEN mean_weight_concentration < 2 AND mean_weight_concentration * units > 3
          THEN 2 * (mean_weight_concentration - 3 / NULLIF(units, 0))
          ELSE 0
        END
      ) * (
        (mean_weight_freedom + 0.8999505931404055e0) / NULLIF(mean_weight_freedom - 1.5207788172066563e0, 0) * ((units - 1 - 1.5207788172066563e0) / NULLIF(units - 1 + 0.8999505931404055e0, 0))
      )
      ELSE mean_weight_se * mean_weight_se
    END AS mean_weight_variance,
    -- quantile of Student's t at 97.5 %: exact for 1 and 2 degrees of freedom, beyond by a
    -- polynomial in 1 / df, to 1e-10
    CASE
      WHEN units = 2 THEN 12.706204736174696e0
      WHEN units = 3 THEN 4.30265272974946e0
      ELSE 1.9599639845400536e0
      + 2.3722712298585114e0 * units_inverse
      + units_inverse * units_inverse * (
        2.8224987226099216e0
        + 2.55584205174121e0 * units_inverse
        + units_inverse * units_inverse * (
          1.5897831427695066e0
          + 0.7284722076660133e0 * units_inverse
          + units_inverse * units_inverse * (
            0.6732166553417918e0
            + -0.13803302935737824e0 * units_inverse
            + units_inverse * units_inverse * (
              -1.0932322711783076e0
              + 4.192747033331032e0 * units_inverse
              + units_inverse * units_inverse * (-5.569680760586609e0 + 2.8784080636910194e0 * units_inverse)
            )
          )
        )
      )
    END AS units_quantile
  FROM degrees_of_freedom
), logs_margins AS (
  -- One row per campaign: the margins of intervals.
  SELECT
    "campaign", units, snips_value, snips_se,
    CASE WHEN snips_se > 1e-12 * ABS(snips_value) THEN units_quantile * SQRT(snips_variance) END AS snips_margin,
    dr_value, dr_se,
    CASE WHEN dr_se > 1e-12 * ABS(dr_value) THEN units_quantile * SQRT(dr_variance) END AS dr_margin,
    mean_weight_value, mean_weight_se,
    CASE
      WHEN mean_weight_se > 1e-12 * ABS(mean_weight_value)
      THEN units_quantile * SQRT(mean_weight_variance)
    END AS mean_weight_margin
  FROM logs_t_quantiles
), logs_intervals AS (
  -- One row per campaign: the limits of intervals.
  SELECT
    "campaign", units,
    snips_value - snips_margin AS snips_ci_low,
    snips_value + snips_margin AS snips_ci_high,
    snips_se,
    dr_value - dr_margin AS dr_ci_low,
    dr_value + dr_margin AS dr_ci_high,
    dr_se,
    mean_weight_value - mean_weight_margin AS mean_weight_ci_low,
    mean_weight_value + mean_weight_margin AS mean_weight_ci_high,
    mean_weight_se
  FROM logs_margins
)
SELECT
  logs_metrics."campaign", logs_metrics.snips, logs_intervals.snips_ci_low,
  logs_intervals.snips_ci_high, logs_intervals.snips_se,
  CAST(logs_intervals.units AS BIGINT) AS snips_n_units,
  logs_metrics.dr, logs_intervals.dr_ci_low, logs_intervals.dr_ci_high, logs_intervals.dr_se,
  CAST(logs_intervals.units AS BIGINT) AS dr_n_units,
  logs_metrics.ess,
  CAST(NULL AS DOUBLE) AS ess_ci_low,
  CAST(NULL AS DOUBLE) AS ess_ci_high,
  CAST(NULL AS DOUBLE) AS ess_se,
  CAST(NULL AS BIGINT) AS ess_n_units,
  logs_metrics.mean_weight, logs_intervals.mean_weight_ci_low, logs_intervals.mean_weight_ci_high,
  logs_intervals.mean_weight_se,
  CAST(logs_intervals.units AS BIGINT) AS mean_weight_n_units
FROM logs_metrics
LEFT JOIN logs_intervals ON logs_intervals."campaign" IS NOT DISTINCT FROM logs_metrics."campaign"
ORDER BY logs_metrics."campaign" NULLS FIRST;
