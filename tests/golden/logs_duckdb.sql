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
    SUM(
      expected_reward + (target_propensity / NULLIF(propensity, 0)) * (reward - predicted_reward)
    )
    / COUNT(*) AS dr,
    -- ESS: effective sample size: the number of actions of the target policy to which the logged
    -- ones are equivalent.
    SUM(target_propensity / NULLIF(propensity, 0))
    * SUM(target_propensity / NULLIF(propensity, 0))
    / NULLIF(
      SUM(
        (target_propensity / NULLIF(propensity, 0)) * (target_propensity / NULLIF(propensity, 0))
      ),
      0
    ) AS ess,
    -- MeanWeight: mean ratio of the probability of an action under the target to that under the
    -- logged policy, 1 if the logs are sound.
    SUM(target_propensity / NULLIF(propensity, 0)) / COUNT(*) AS mean_weight,
    1 / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips_by_1,
    (
      -(
        SUM((target_propensity / NULLIF(propensity, 0)) * reward)
        / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0)
      )
    )
    / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips_by_2,
    1 / COUNT(*) AS dr_by_1,
    (
      -(
        SUM(
          expected_reward
          + (target_propensity / NULLIF(propensity, 0)) * (reward - predicted_reward)
        )
        / COUNT(*)
      )
    )
    / COUNT(*) AS dr_by_2,
    (-(SUM(target_propensity / NULLIF(propensity, 0)) / COUNT(*))) / COUNT(*) AS mean_weight_by_2
  FROM logs
  GROUP BY "campaign"
), unit_influence AS (
  -- One row per unit: its influence on every metric.
  SELECT
    logs."campaign",
    logs_metrics.snips_by_1
    * COALESCE((logs.target_propensity / NULLIF(logs.propensity, 0)) * logs.reward, 0)
    + logs_metrics.snips_by_2
    * COALESCE(logs.target_propensity / NULLIF(logs.propensity, 0), 0) AS snips_influence,
    logs_metrics.dr_by_1
    * COALESCE(
      logs.expected_reward
      + (logs.target_propensity / NULLIF(logs.propensity, 0))
      * (logs.reward - logs.predicted_reward),
      0
    )
    + logs_metrics.dr_by_2 AS dr_influence,
    logs_metrics.dr_by_1 * COALESCE(logs.target_propensity / NULLIF(logs.propensity, 0), 0)
    + logs_metrics.mean_weight_by_2 AS mean_weight_influence
  FROM logs
  INNER JOIN logs_metrics ON logs_metrics."campaign" IS NOT DISTINCT FROM logs."campaign"
), standard_errors AS (
  -- One row per campaign: its units, and standard errors.
  SELECT
    "campaign",
    COUNT(*) AS units,
    SQRT(SUM(snips_influence * snips_influence) * COUNT(*) / NULLIF(COUNT(*) - 1, 0)) AS snips_se,
    SQRT(SUM(dr_influence * dr_influence) * COUNT(*) / NULLIF(COUNT(*) - 1, 0)) AS dr_se,
    SQRT(
      SUM(mean_weight_influence * mean_weight_influence) * COUNT(*) / NULLIF(COUNT(*) - 1, 0)
    ) AS mean_weight_se,
    -- concentration of the variance, from a row per unit: 0 if units have equal influence, nearly 1
    -- if one has all
    SUM(snips_influence * snips_influence * snips_influence * snips_influence)
    / NULLIF(SUM(snips_influence * snips_influence) * SUM(snips_influence * snips_influence), 0)
    - 1 / COUNT(*) AS snips_concentration,
    SUM(dr_influence * dr_influence * dr_influence * dr_influence)
    / NULLIF(SUM(dr_influence * dr_influence) * SUM(dr_influence * dr_influence), 0)
    - 1 / COUNT(*) AS dr_concentration,
    SUM(
      mean_weight_influence * mean_weight_influence * mean_weight_influence * mean_weight_influence
    )
    / NULLIF(
      SUM(mean_weight_influence * mean_weight_influence)
      * SUM(mean_weight_influence * mean_weight_influence),
      0
    )
    - 1 / COUNT(*) AS mean_weight_concentration
  FROM unit_influence
  GROUP BY "campaign"
), degrees_of_freedom AS (
  -- One row per campaign: powers of 1 / df, and effective degrees of freedom.
  SELECT
    "campaign", units, snips_se, dr_se, mean_weight_se,
    1 / NULLIF(units - 1, 0) AS inverse_df,
    1 / NULLIF(units - 1, 0) / NULLIF(units - 1, 0) AS inverse_df_2,
    1
    / NULLIF(units - 1, 0)
    / NULLIF(units - 1, 0)
    / NULLIF(units - 1, 0)
    / NULLIF(units - 1, 0) AS inverse_df_4,
    -- growth of the squared t quantile over the normal one, to 1 %
    (units - 1 + 0.8999505931404055e0) / NULLIF(units - 1 - 1.5207788172066563e0, 0) AS t_growth,
    -- Satterthwaite's degrees of freedom for units of equal weight, few if few units make up the
    -- variance
    CASE
      WHEN units <= 4 OR snips_concentration >= 2 THEN units - 1
      WHEN snips_concentration * 3 > 2 THEN 3
      WHEN snips_concentration * (units - 1) > 2 THEN 2 / NULLIF(snips_concentration, 0)
      ELSE units - 1
    END AS snips_df,
    -- factor of the variance for kurtosis of influence: 1 plus twice the excess of its
    -- concentration over 2 / units
    CASE
      WHEN units > 4 AND snips_concentration < 2 AND snips_concentration * units > 2
      THEN 1 + 2 * snips_concentration - 4 / units
      ELSE 1
    END AS snips_inflation,
    CASE
      WHEN units <= 4 OR dr_concentration >= 2 THEN units - 1
      WHEN dr_concentration * 3 > 2 THEN 3
      WHEN dr_concentration * (units - 1) > 2 THEN 2 / NULLIF(dr_concentration, 0)
      ELSE units - 1
    END AS dr_df,
    CASE
      WHEN units > 4 AND dr_concentration < 2 AND dr_concentration * units > 2
      THEN 1 + 2 * dr_concentration - 4 / units
      ELSE 1
    END AS dr_inflation,
    CASE
      WHEN units <= 4 OR mean_weight_concentration >= 2 THEN units - 1
      WHEN mean_weight_concentration * 3 > 2 THEN 3
      WHEN mean_weight_concentration * (units - 1) > 2
      THEN 2 / NULLIF(mean_weight_concentration, 0)
      ELSE units - 1
    END AS mean_weight_df,
    CASE
      WHEN units > 4 AND mean_weight_concentration < 2 AND mean_weight_concentration * units > 2
      THEN 1 + 2 * mean_weight_concentration - 4 / units
      ELSE 1
    END AS mean_weight_inflation
  FROM standard_errors
), variances AS (
  -- One row per campaign: quantiles of Student's t, and variances for the intervals.
  SELECT
    "campaign", units, snips_se, dr_se, mean_weight_se,
    -- quantile of Student's t at 97.5 %: exact for 1 and 2 degrees of freedom, beyond by a
    -- polynomial in 1 / df, to 1e-10
    CASE
      WHEN units = 2 THEN 12.706204736174696e0
      WHEN units = 3 THEN 4.30265272974946e0
      ELSE 1.9599639845400536e0
      + 2.3722712298585114e0 * inverse_df
      + inverse_df_2 * (2.8224987226099216e0 + 2.55584205174121e0 * inverse_df)
      + inverse_df_4 * (1.5897831427695066e0 + 0.7284722076660133e0 * inverse_df)
      + inverse_df_4 * inverse_df_2 * (0.6732166553417918e0 + -0.13803302935737824e0 * inverse_df)
      + inverse_df_4 * inverse_df_4 * (-1.0932322711783076e0 + 4.192747033331032e0 * inverse_df)
      + inverse_df_4
      * inverse_df_4 * inverse_df_2 * (-5.569680760586609e0 + 2.8784080636910194e0 * inverse_df)
    END AS t_quantile,
    -- squared standard error, enlarged for kurtosis and the growth of t with fewer df
    snips_se * snips_se * snips_inflation * (snips_df + 0.8999505931404055e0)
    / NULLIF(snips_df - 1.5207788172066563e0, 0)
    / NULLIF(t_growth, 0) AS snips_variance,
    dr_se * dr_se * dr_inflation * (dr_df + 0.8999505931404055e0)
    / NULLIF(dr_df - 1.5207788172066563e0, 0)
    / NULLIF(t_growth, 0) AS dr_variance,
    mean_weight_se * mean_weight_se * mean_weight_inflation
    * (mean_weight_df + 0.8999505931404055e0)
    / NULLIF(mean_weight_df - 1.5207788172066563e0, 0)
    / NULLIF(t_growth, 0) AS mean_weight_variance
  FROM degrees_of_freedom
), margins AS (
  -- One row per campaign: what the limits of intervals are computed from.
  SELECT
    variances."campaign", variances.units, variances.snips_se, variances.dr_se,
    variances.mean_weight_se,
    logs_metrics.snips AS snips_value,
    logs_metrics.dr AS dr_value,
    logs_metrics.mean_weight AS mean_weight_value,
    CASE
      WHEN variances.snips_se > 1e-12 * ABS(logs_metrics.snips)
      THEN variances.t_quantile * SQRT(variances.snips_variance)
    END AS snips_margin,
    CASE
      WHEN variances.dr_se > 1e-12 * ABS(logs_metrics.dr)
      THEN variances.t_quantile * SQRT(variances.dr_variance)
    END AS dr_margin,
    CASE
      WHEN variances.mean_weight_se > 1e-12 * ABS(logs_metrics.mean_weight)
      THEN variances.t_quantile * SQRT(variances.mean_weight_variance)
    END AS mean_weight_margin
  FROM variances
  INNER JOIN logs_metrics ON logs_metrics."campaign" IS NOT DISTINCT FROM variances."campaign"
), intervals AS (
  -- One row per campaign: limits of intervals.
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
  FROM margins
)
SELECT
  logs_metrics."campaign", logs_metrics.snips, intervals.snips_ci_low, intervals.snips_ci_high,
  intervals.snips_se,
  CAST(intervals.units AS BIGINT) AS snips_n_units,
  logs_metrics.dr, intervals.dr_ci_low, intervals.dr_ci_high, intervals.dr_se,
  CAST(intervals.units AS BIGINT) AS dr_n_units,
  logs_metrics.ess,
  CAST(NULL AS DOUBLE) AS ess_ci_low,
  CAST(NULL AS DOUBLE) AS ess_ci_high,
  CAST(NULL AS DOUBLE) AS ess_se,
  CAST(NULL AS BIGINT) AS ess_n_units,
  logs_metrics.mean_weight, intervals.mean_weight_ci_low, intervals.mean_weight_ci_high,
  intervals.mean_weight_se,
  CAST(intervals.units AS BIGINT) AS mean_weight_n_units
FROM logs_metrics
LEFT JOIN intervals ON intervals."campaign" IS NOT DISTINCT FROM logs_metrics."campaign"
ORDER BY logs_metrics."campaign" NULLS FIRST;
