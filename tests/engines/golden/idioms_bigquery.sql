-- logs: logs
WITH logs AS (
    CAST(reward AS FLOAT64) AS reward, CAST(propensity AS FLOAT64) AS propensity,
    CAST(target_propensity AS FLOAT64) AS target_propensity,
    CAST(predicted_reward AS FLOAT64) AS predicted_reward,
    CAST(expected_reward AS FLOAT64) AS expected_reward
-- logs: standard_errors
), standard_errors AS (
-- logs: interval_terms
    (units - 1 + 0.8999505931404055) / NULLIF(units - 1 - 1.5207788172066563, 0) AS t_growth,
-- logs: margins
), margins AS (
        WHEN df = 1 THEN 12.706204736174696
        WHEN df = 2 THEN 4.30265272974946
        ELSE 1.9599639845400536 + 2.37227122985838 / df + 2.8224987226224036 / POWER(df, 2)
        + 2.555842051278845 / POWER(df, 3) + 1.58978315186063 / POWER(df, 4)
        + 0.7284721002357477 / POWER(df, 5) + 0.6732174654619627 / POWER(df, 6)
        - 0.1380370249284715 / POWER(df, 7) - 1.093219426976424 / POWER(df, 8)
        + 4.192721092336624 / POWER(df, 9) - 5.569650865297036 / POWER(df, 10)
        + 2.8783930654182805 / POWER(df, 11)
        se * se * inflation * (effective_df + 0.8999505931404055)
        / NULLIF(effective_df - 1.5207788172066563, 0) / NULLIF(t_growth, 0)
-- logs: result
  CAST(intervals.snips_units AS INT64) AS snips_n_units,
  CAST(intervals.dr_units AS INT64) AS dr_n_units,
  CAST(NULL AS FLOAT64) AS ess_ci_low,
  CAST(NULL AS FLOAT64) AS ess_ci_high,
  CAST(NULL AS FLOAT64) AS ess_se,
  CAST(NULL AS INT64) AS ess_n_units,
  CAST(intervals.mean_weight_units AS INT64) AS mean_weight_n_units
ORDER BY logs_metrics.`campaign`;
-- experiment: observations
    `user_id` AS unit_id, CAST(`arm` AS STRING) AS variant, CAST(clicks AS FLOAT64) AS clicks,
    CAST(views AS FLOAT64) AS views, CAST(revenue AS FLOAT64) AS revenue,
    CAST(revenue_before AS FLOAT64) AS revenue_before
-- experiment: covariate_coefficients
), covariate_coefficients AS (
        1.0 / NULLIF(denominator, 0) * covariate_products / NULLIF(covariate_squares, 0), 0
-- experiment: adjusted_moments
), adjusted_moments AS (
-- experiment: effects
    (1 - 0.95) / COUNT(*) OVER () AS alpha
-- experiment: quadrature_nodes
  SELECT 4 * LN(1 + EXP(0.45 * number - 31)) AS node, 1.8 / (1 + EXP(31 - 0.45 * number)) AS weight
  FROM UNNEST(GENERATE_ARRAY(0, 99)) AS number
-- experiment: t_requests
    CASE purpose WHEN 'test' THEN 1 - 0.95 WHEN 'power' THEN 2 - 2 * 0.8 ELSE alpha END AS alpha,
-- experiment: t_quantiles_3
), t_quantiles_3 AS (
-- experiment: p_value_ranks
    ) AS INT64) AS p_rank,
-- experiment: sample_ratio_statistic
    CAST(COUNT(*) - 1 AS FLOAT64) AS df,
-- experiment: results
      WHEN sample_ratio_test.p_value >= 0.001 AND p_adjusted < 1 - 0.95
-- experiment: result
  CAST(n_units_control AS INT64) AS n_units_control,
  CAST(n_units AS INT64) AS n_units,
  CAST(multi_variant_units AS INT64) AS multi_variant_units
ORDER BY metric, variant;
