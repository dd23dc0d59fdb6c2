-- sqlrank 0.1.0 for DuckDB: SNIPS, DR, ESS, MeanWeight, one row per campaign
-- reads: shop.ads.logged (logs)
-- settings: confidence=0.95
-- logs: every row is a unit of intervals, since the table cannot be looked at. Map logs.unit_id to
--   the column of other units
-- made by: sqlrank sql SNIPS DR ESS MeanWeight --input logs=shop.ads.logged --by campaign --confidence 0.95
WITH logs AS NOT MATERIALIZED (
  -- One row per logged action, with its reward. (shop.ads.logged)
  SELECT
    "campaign",
    CAST(reward AS DOUBLE) AS reward, CAST(propensity AS DOUBLE) AS propensity,
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
    SUM(target_propensity / NULLIF(propensity, 0) * reward)
    / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips,
    -- DR: doubly robust: the rewards predicted for the target policy, and IPS of the errors of the
    -- predictions.
    SUM(expected_reward + target_propensity / NULLIF(propensity, 0) * (reward - predicted_reward))
    / COUNT(*) AS dr,
    -- ESS: effective sample size: the number of actions of the target policy to which the logged
    -- ones are equivalent.
    SUM(target_propensity / NULLIF(propensity, 0))
    * SUM(target_propensity / NULLIF(propensity, 0)) / NULLIF(
      SUM(target_propensity / NULLIF(propensity, 0) * (target_propensity / NULLIF(propensity, 0))),
      0
    ) AS ess,
    -- MeanWeight: mean ratio of the probability of an action under the target to that under the
    -- logged policy, 1 if the logs are sound.
    SUM(target_propensity / NULLIF(propensity, 0)) / COUNT(*) AS mean_weight,
    -- derivative of the metric by its sum 1
    1 / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips_by_sum_1,
    -- derivative of the metric by its sum 2
    (
      -(
        SUM(target_propensity / NULLIF(propensity, 0) * reward)
        / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0)
      )
    ) / NULLIF(SUM(target_propensity / NULLIF(propensity, 0)), 0) AS snips_by_sum_2,
    1 / COUNT(*) AS dr_by_sum,  -- derivative of the metric by its sum
    -- derivative of the metric by its number of rows
    (
      -(
        SUM(
          expected_reward + target_propensity / NULLIF(propensity, 0) * (reward - predicted_reward)
        ) / COUNT(*)
      )
    ) / COUNT(*) AS dr_by_rows,
    (-(SUM(target_propensity / NULLIF(propensity, 0)) / COUNT(*)))
    / COUNT(*) AS mean_weight_by_rows  -- derivative of the metric by its number of rows
  FROM logs
  GROUP BY "campaign"
), unit_influence AS (
  -- One row per logged action, with its reward: its influence on each metric.
  SELECT
    logs."campaign",
    -- effect of the unit on the metric, to first order
    logs_metrics.snips_by_sum_1
    * COALESCE(logs.target_propensity / NULLIF(logs.propensity, 0) * logs.reward, 0)
    + logs_metrics.snips_by_sum_2
    * COALESCE(logs.target_propensity / NULLIF(logs.propensity, 0), 0) AS snips_influence,
    logs_metrics.dr_by_sum * COALESCE(
      logs.expected_reward
      + logs.target_propensity / NULLIF(logs.propensity, 0)
      * (logs.reward - logs.predicted_reward),
      0
    ) + logs_metrics.dr_by_rows AS dr_influence,
    logs_metrics.dr_by_sum * COALESCE(logs.target_propensity / NULLIF(logs.propensity, 0), 0)
    + logs_metrics.mean_weight_by_rows AS mean_weight_influence
  FROM logs
  INNER JOIN logs_metrics ON logs_metrics."campaign" IS NOT DISTINCT FROM logs."campaign"
), influence_sums AS (
  -- One row per campaign: its number of independent units, and sums of powers of their influence on
  -- each metric.
  SELECT
    "campaign",
    COUNT(*) AS units,
    SUM(snips_influence * snips_influence) AS snips_squares,
    SUM(
      snips_influence * snips_influence * snips_influence * snips_influence
    ) AS snips_fourth_powers,
    SUM(dr_influence * dr_influence) AS dr_squares,
    SUM(dr_influence * dr_influence * dr_influence * dr_influence) AS dr_fourth_powers,
    SUM(mean_weight_influence * mean_weight_influence) AS mean_weight_squares,
    SUM(
      mean_weight_influence * mean_weight_influence * mean_weight_influence * mean_weight_influence
    ) AS mean_weight_fourth_powers
  FROM unit_influence
  GROUP BY "campaign"
), metric_names AS (
  -- One row per metric.
  SELECT 'snips' AS metric UNION ALL SELECT 'dr' AS metric UNION ALL SELECT 'mean_weight' AS metric
), metric_sums AS (
  -- One row per campaign and metric: the same sums.
  SELECT
    influence_sums."campaign", metric, units,
    CASE metric
      WHEN 'snips' THEN snips_squares
      WHEN 'dr' THEN dr_squares
      WHEN 'mean_weight' THEN mean_weight_squares
    END AS squares,
    CASE metric
      WHEN 'snips' THEN snips_fourth_powers
      WHEN 'dr' THEN dr_fourth_powers
      WHEN 'mean_weight' THEN mean_weight_fourth_powers
    END AS fourth_powers,
    CASE metric
      WHEN 'snips' THEN snips
      WHEN 'dr' THEN dr
      WHEN 'mean_weight' THEN mean_weight
    END AS value
  FROM influence_sums
  CROSS JOIN metric_names
  INNER JOIN logs_metrics ON logs_metrics."campaign" IS NOT DISTINCT FROM influence_sums."campaign"
), standard_errors AS MATERIALIZED (
  -- One row per campaign and metric: its units, standard error, and terms of the interval.
  SELECT
    "campaign", metric, value, units,
    SQRT(squares * units / NULLIF(units - 1, 0)) AS se,  -- standard error of the metric
    NULLIF(units - 1, 0) AS df,  -- degrees of freedom, NULL in place of 0
    -- concentration of the variance: 0 if units have equal influence, near 1 if one has all
    fourth_powers / NULLIF(squares * squares, 0) - 1 / units AS concentration
  FROM metric_sums
), interval_terms AS (
  -- One row per campaign and metric: the metric, and terms of the variance for its interval.
  SELECT
    "campaign", metric, value, units, se, df,
    -- about (t / z)^2, t with units - 1 degrees of freedom, z normal; within 1.6 % from 4 units on
    (units - 1 + 0.8999505931404055e0) / NULLIF(units - 1 - 1.5207788172066563e0, 0) AS t_growth,
    -- Satterthwaite's degrees of freedom: 2 / concentration, kept in 3..units - 1; a concentration
    -- of 2 is an overflow
    CASE
      WHEN units <= 4 OR concentration >= 2 THEN units - 1
      WHEN concentration * 3 > 2 THEN 3
      WHEN concentration * (units - 1) > 2 THEN 2 / NULLIF(concentration, 0)
      ELSE units - 1
    END AS effective_df,
    -- factor if few units make up the variance, by simulation: 1 + 2 (concentration - 2 / units),
    -- at least 1
    CASE
      WHEN units > 4 AND concentration < 2 AND concentration * units > 2
      THEN 1 + 2 * concentration - 4 / units
      ELSE 1
    END AS inflation
  FROM standard_errors
), margins AS MATERIALIZED (
  -- One row per campaign and metric: the margin, from which both limits follow.
  SELECT
    "campaign", metric, value, units, se,
    -- half-width of the interval: a quantile of Student's t times a standard error
    CASE
      WHEN se > 1e-12 * ABS(value)
      THEN CASE
        WHEN df = 1 THEN 12.706204736174696e0
        WHEN df = 2 THEN 4.30265272974946e0
        ELSE 1.9599639845400536e0 + 2.37227122985838e0 / df + 2.8224987226224036e0 / POWER(df, 2)
        + 2.555842051278845e0 / POWER(df, 3) + 1.58978315186063e0 / POWER(df, 4)
        + 0.7284721002357477e0 / POWER(df, 5) + 0.6732174654619627e0 / POWER(df, 6)
        - 0.1380370249284715e0 / POWER(df, 7) - 1.093219426976424e0 / POWER(df, 8)
        + 4.192721092336624e0 / POWER(df, 9) - 5.569650865297036e0 / POWER(df, 10)
        + 2.8783930654182805e0 / POWER(df, 11)
      END
      * SQRT(
        se * se * inflation * (effective_df + 0.8999505931404055e0)
        / NULLIF(effective_df - 1.5207788172066563e0, 0) / NULLIF(t_growth, 0)
      )
    END AS margin
  FROM interval_terms
), interval_limits AS (
  -- One row per campaign and metric: limits of its interval.
  SELECT
    "campaign", metric, units,
    -- lower limit of the 95 % interval
    CASE
      WHEN metric = 'mean_weight'
      THEN CASE WHEN value - margin < 0 AND value >= 0 THEN 0 ELSE value - margin END
      ELSE value - margin
    END AS ci_low,
    value + margin AS ci_high,  -- upper limit of the 95 % interval
    se
  FROM margins
), intervals AS (
  -- One row per campaign: limits of intervals.
  SELECT
    "campaign",
    MAX(CASE WHEN metric = 'snips' THEN ci_low END) AS snips_ci_low,
    MAX(CASE WHEN metric = 'snips' THEN ci_high END) AS snips_ci_high,
    MAX(CASE WHEN metric = 'snips' THEN se END) AS snips_se,
    MAX(CASE WHEN metric = 'snips' THEN units END) AS snips_units,
    MAX(CASE WHEN metric = 'dr' THEN ci_low END) AS dr_ci_low,
    MAX(CASE WHEN metric = 'dr' THEN ci_high END) AS dr_ci_high,
    MAX(CASE WHEN metric = 'dr' THEN se END) AS dr_se,
    MAX(CASE WHEN metric = 'dr' THEN units END) AS dr_units,
    MAX(CASE WHEN metric = 'mean_weight' THEN ci_low END) AS mean_weight_ci_low,
    MAX(CASE WHEN metric = 'mean_weight' THEN ci_high END) AS mean_weight_ci_high,
    MAX(CASE WHEN metric = 'mean_weight' THEN se END) AS mean_weight_se,
    MAX(CASE WHEN metric = 'mean_weight' THEN units END) AS mean_weight_units
  FROM interval_limits
  GROUP BY "campaign"
)
SELECT
  logs_metrics."campaign", logs_metrics.snips, intervals.snips_ci_low, intervals.snips_ci_high,
  intervals.snips_se,
  CAST(intervals.snips_units AS BIGINT) AS snips_n_units,
  logs_metrics.dr, intervals.dr_ci_low, intervals.dr_ci_high, intervals.dr_se,
  CAST(intervals.dr_units AS BIGINT) AS dr_n_units,
  logs_metrics.ess,
  CAST(NULL AS DOUBLE) AS ess_ci_low,
  CAST(NULL AS DOUBLE) AS ess_ci_high,
  CAST(NULL AS DOUBLE) AS ess_se,
  CAST(NULL AS BIGINT) AS ess_n_units,
  logs_metrics.mean_weight, intervals.mean_weight_ci_low, intervals.mean_weight_ci_high,
  intervals.mean_weight_se,
  CAST(intervals.mean_weight_units AS BIGINT) AS mean_weight_n_units
FROM logs_metrics
LEFT JOIN intervals ON intervals."campaign" IS NOT DISTINCT FROM logs_metrics."campaign"
ORDER BY logs_metrics."campaign" NULLS FIRST;
