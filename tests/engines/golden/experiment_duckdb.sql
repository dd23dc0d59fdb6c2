-- sqlrank 0.1.0 for DuckDB: experiment ctr=Ratio(clicks, views), revenue=Mean(revenue), one row per
--   metric and variant, and one for the sample ratio
-- reads: shop.eval.visits (data)
-- settings: unit=user_id, variant=arm, control=A, covariates=(revenue=Mean(revenue_before)), where
--   day >= '2026-01-01', confidence=0.95, correction=holm, interval=fixed, lift_scale=log,
--   power=0.8
-- made by: sqlrank experiment 'ctr=Ratio(clicks, views)' 'revenue=Mean(revenue)' --data shop.eval.visits --unit user_id --variant arm --control A --covariate 'revenue=Mean(revenue_before)' --where "day >= '2026-01-01'" --sql
WITH observations AS (
  -- One row per row of the data, of which a unit may have several.
  SELECT
    "user_id" AS unit_id, CAST("arm" AS TEXT) AS variant, CAST(clicks AS DOUBLE) AS clicks,
    CAST(views AS DOUBLE) AS views, CAST(revenue AS DOUBLE) AS revenue,
    CAST(revenue_before AS DOUBLE) AS revenue_before
  FROM shop.eval.visits
  WHERE "day" >= '2026-01-01'
), experiment_units AS (
  -- One row per unit: its variant, and summed amounts. (experiments/experiment_units.sql)
  SELECT
    MIN(variant) AS variant,
    MAX(variant) AS last_variant,  -- another one if the unit was in several variants
    SUM(clicks) AS clicks, SUM(views) AS views, SUM(revenue) AS revenue,
    SUM(revenue_before) AS revenue_before
  FROM observations
  GROUP BY unit_id
), variant_means AS (
  -- One row per variant: its units, and means of their amounts. (experiments/variant_means.sql)
  SELECT
    -- NULL if the unit was in several variants
    CASE WHEN variant = last_variant THEN variant END AS variant,
    COUNT(*) AS units,
    -- of all variants
    SUM(SUM(CASE WHEN variant <> last_variant THEN 1 ELSE 0 END)) OVER () AS multi_variant_units,
    AVG(clicks) AS variant_mean_clicks, AVG(views) AS variant_mean_views,
    AVG(revenue) AS variant_mean_revenue,
    AVG(revenue_before) AS variant_mean_revenue_before,
    COUNT(revenue_before) AS revenue_before_count  -- units that have it
  FROM experiment_units
  GROUP BY CASE WHEN variant = last_variant THEN variant END
), variant_summaries AS (
  -- One row per variant: its units and means, and the overall mean of each covariate.
  -- (experiments/variant_summaries.sql)
  SELECT
    variant, units, multi_variant_units, variant_mean_clicks, variant_mean_views,
    variant_mean_revenue, variant_mean_revenue_before, revenue_before_count,
    COALESCE(
      SUM(
        CASE WHEN variant IS NOT NULL THEN revenue_before_count * variant_mean_revenue_before END
      ) OVER ()
      / NULLIF(SUM(CASE WHEN variant IS NOT NULL THEN revenue_before_count END) OVER (), 0),
      0
    ) AS revenue_before_overall_mean
  FROM variant_means
), imputed_means AS (
  -- One row per variant: units, and means, where units without a covariate have its overall mean.
  -- (experiments/imputed_means.sql)
  SELECT
    variant, units, multi_variant_units, variant_mean_clicks, variant_mean_views,
    variant_mean_revenue, revenue_before_overall_mean,
    revenue_before_overall_mean
    + COALESCE(
      (variant_mean_revenue_before - revenue_before_overall_mean) * revenue_before_count / units, 0
    ) AS variant_mean_revenue_before  -- with the overall mean for units without it
  FROM variant_summaries
), variant_comoments AS (
  -- One row per variant: means, and sums of squares and products about them.
  -- (experiments/variant_comoments.sql)
  SELECT
    imputed_means.variant,
    MAX(units) AS units, MAX(multi_variant_units) AS multi_variant_units,
    MAX(variant_mean_clicks) AS mean_clicks, MAX(variant_mean_views) AS mean_views,
    MAX(variant_mean_revenue) AS mean_revenue,
    MAX(variant_mean_revenue_before) AS mean_revenue_before,
    SUM((clicks - variant_mean_clicks) * (clicks - variant_mean_clicks)) AS product_clicks_clicks,
    SUM((clicks - variant_mean_clicks) * (views - variant_mean_views)) AS product_clicks_views,
    SUM((views - variant_mean_views) * (views - variant_mean_views)) AS product_views_views,
    SUM(
      (revenue - variant_mean_revenue) * (revenue - variant_mean_revenue)
    ) AS product_revenue_revenue,
    SUM(
      (revenue - variant_mean_revenue)
      * (COALESCE(revenue_before, revenue_before_overall_mean) - variant_mean_revenue_before)
    ) AS product_revenue_revenue_before,
    SUM(
      (COALESCE(revenue_before, revenue_before_overall_mean) - variant_mean_revenue_before)
      * (COALESCE(revenue_before, revenue_before_overall_mean) - variant_mean_revenue_before)
    ) AS product_revenue_before_revenue_before
  FROM experiment_units
  INNER JOIN imputed_means ON experiment_units.variant = imputed_means.variant
  WHERE experiment_units.variant = experiment_units.last_variant
  GROUP BY imputed_means.variant
), metrics AS (
  -- One row per metric.
  SELECT 'ctr' AS metric UNION ALL SELECT 'revenue' AS metric
), metric_moments AS (
  -- One row per metric and variant: units, means, and sums of squares and products about the means.
  -- (experiments/metric_moments.sql)
  SELECT
    metric, variant, units, multi_variant_units,
    CASE metric WHEN 'ctr' THEN mean_clicks WHEN 'revenue' THEN mean_revenue END AS value,
    CASE metric WHEN 'ctr' THEN mean_views WHEN 'revenue' THEN 1 END AS denominator,
    CASE metric WHEN 'ctr' THEN 0 WHEN 'revenue' THEN mean_revenue_before END AS covariate,
    CASE metric
      WHEN 'ctr' THEN product_clicks_clicks
      WHEN 'revenue' THEN product_revenue_revenue
    END AS value_value,  -- sum of squares of values about the mean
    -- of products of values, denominators
    CASE metric WHEN 'ctr' THEN product_clicks_views WHEN 'revenue' THEN 0 END AS value_denominator,
    CASE metric
      WHEN 'ctr' THEN product_views_views
      WHEN 'revenue' THEN 0
    END AS denominator_denominator,  -- sum of squares of denominators about the mean
    CASE metric
      WHEN 'ctr' THEN 0
      WHEN 'revenue' THEN product_revenue_before_revenue_before
    END AS covariate_covariate,  -- sum of squares of covariates about the mean
    CASE metric
      WHEN 'ctr' THEN 0
      WHEN 'revenue' THEN product_revenue_revenue_before
    END AS value_covariate  -- of products of values, covariates
  FROM variant_comoments
  CROSS JOIN metrics
), variant_ratios AS (
  -- One row per metric and variant: ratio of means, and moments. (experiments/variant_ratios.sql)
  SELECT
    metric, variant, units,
    NULLIF(denominator, 0) AS denominator, value / NULLIF(denominator, 0) AS ratio,
    covariate AS covariate_ratio,
    value_value, value_denominator, denominator_denominator, covariate_covariate, value_covariate
  FROM metric_moments
), linearized_moments AS (
  -- One row per metric and variant: ratio, and sums of squares and products by the delta method. To
  -- first order, a ratio varies as the mean of value - ratio * denominator does.
  -- (experiments/linearized_moments.sql)
  SELECT
    metric, variant, units,
    -- fewer than units if denominators differ
    units
    - (units - 1) * denominator_denominator
    / (units * denominator * denominator + denominator_denominator) AS effective_units,
    ratio, covariate_ratio,
    SUM(units * ratio) OVER (PARTITION BY metric)
    / SUM(units) OVER (PARTITION BY metric) AS overall_ratio,  -- of all variants
    -- of values 0 and 1: units of the rarer one
    CASE WHEN ratio < 0.5 THEN units * ratio ELSE units * (1 - ratio) END AS rarer_units,
    (value_value - 2 * ratio * value_denominator + ratio * ratio * denominator_denominator)
    / (denominator * denominator) AS squares,  -- sum of squares about the ratio
    (value_value + ratio * ratio * denominator_denominator)
    / (denominator * denominator) AS square_terms,  -- the same without what cancels, for rounding
    -- sum of products of value and covariate about their ratios
    value_covariate / denominator AS covariate_products,
    covariate_covariate AS covariate_squares  -- sum of squares of the covariate about its ratio
  FROM variant_ratios
), raised_moments AS (
  -- One row per metric and variant: moments, of which sums of squares are raised if few units
  -- convert. Squares are units * ratio * (1 - ratio) only if each value is 0 or 1.
  -- (experiments/raised_moments.sql)
  SELECT
    metric, variant, units, effective_units,
    POWER(
      (units - 1) * effective_units / NULLIF(units * (effective_units - 1), 0), 2
    ) AS jackknife_growth,  -- factor of the variance of a lift
    ratio, covariate_ratio,
    -- raised towards the overall ratio if few convert
    CASE
      WHEN rarer_units < 10
      AND squares > 1e-12 * square_terms
      AND ABS(squares - units * ratio * (1 - ratio)) <= 1e-9 * squares
      AND units * overall_ratio * (1 - overall_ratio) > squares
      THEN squares
      + (1 - rarer_units / 10) * (units * overall_ratio * (1 - overall_ratio) - squares)
      ELSE squares
    END AS squares,
    square_terms, covariate_products, covariate_squares
  FROM linearized_moments
), pooled_moments AS (
  -- One row per metric and treatment: moments of treatment and control as one sample, and
  -- differences of their means. (experiments/pooled_moments.sql)
  SELECT
    treatment.metric, treatment.variant,
    treatment.units + control.units AS units,
    -- factor of squared differences of means in the pooled sum
    treatment.units * control.units / (treatment.units + control.units) AS half_harmonic_units,
    (treatment.units * treatment.denominator + control.units * control.denominator)
    / (treatment.units + control.units) AS denominator,
    (treatment.units * treatment.value + control.units * control.value) / NULLIF(
      treatment.units * treatment.denominator + control.units * control.denominator, 0
    ) AS ratio,
    (treatment.units * treatment.covariate + control.units * control.covariate)
    / NULLIF(treatment.units + control.units, 0) AS covariate_ratio,
    treatment.value - control.value AS value_difference,
    treatment.denominator - control.denominator AS denominator_difference,
    treatment.covariate - control.covariate AS covariate_difference,
    treatment.value_covariate + control.value_covariate AS value_covariate,
    treatment.covariate_covariate + control.covariate_covariate AS covariate_covariate
  FROM metric_moments AS treatment
  INNER JOIN metric_moments AS control ON treatment.metric = control.metric
  WHERE control.variant = 'A' AND treatment.variant <> 'A'
), pooled_squares AS (
  -- One row per metric and treatment: ratio and sum of squares of the covariate, and of its
  -- products with the value. A sum about the mean of both samples is the sums about their own
  -- means, and half_harmonic_units times the differences of the means.
  -- (experiments/pooled_squares.sql)
  SELECT
    metric, variant, units, denominator, covariate_ratio,
    covariate_covariate AS covariate_square_terms,
    value_covariate
    + half_harmonic_units * (value_difference - ratio * denominator_difference)
    * covariate_difference AS covariate_products,
    covariate_covariate
    + half_harmonic_units * covariate_difference * covariate_difference AS covariate_squares
  FROM pooled_moments
), covariate_coefficients AS MATERIALIZED (
  -- One row per metric and treatment: ratio and coefficient (theta of CUPED) of the covariate, 0 if
  -- constant. (experiments/covariate_coefficients.sql)
  SELECT
    metric, variant,
    covariate_ratio AS pooled_covariate_ratio,
    -- 0 if squares are only rounding errors, 1e-12 of their terms
    CASE
      WHEN covariate_squares > 1e-12 * covariate_square_terms
      AND covariate_squares > 1e-24 * units * covariate_ratio * covariate_ratio
      THEN COALESCE(
        1 / NULLIF(denominator, 0) * covariate_products / NULLIF(covariate_squares, 0), 0
      )
      ELSE 0
    END AS cuped_theta
  FROM pooled_squares
), adjusted_moments AS MATERIALIZED (
  -- One row per metric, treatment and arm (treatment or control): units, theta, CUPED-adjusted
  -- value and sum of squares. (experiments/adjusted_moments.sql)
  SELECT
    covariate_coefficients.metric, covariate_coefficients.variant,
    raised_moments.variant AS arm,
    units, effective_units, jackknife_growth, cuped_theta,
    CASE
      WHEN cuped_theta = 0 THEN ratio
      ELSE ratio - cuped_theta * (covariate_ratio - pooled_covariate_ratio)
    END AS value,  -- less theta times the excess of the covariate
    -- of value - theta * covariate; NULL for equal values
    CASE
      WHEN cuped_theta = 0 THEN squares
      WHEN squares > 1e-12 * square_terms AND squares > 1e-24 * units * ratio * ratio
      THEN squares - 2 * cuped_theta * covariate_products
      + cuped_theta * cuped_theta * covariate_squares
    END AS squares,
    CASE
      WHEN cuped_theta = 0 THEN square_terms
      ELSE square_terms + cuped_theta * cuped_theta * raised_moments.covariate_squares
    END AS square_terms
  FROM covariate_coefficients
  INNER JOIN raised_moments ON covariate_coefficients.metric = raised_moments.metric
  WHERE raised_moments.variant = covariate_coefficients.variant OR raised_moments.variant = 'A'
), variant_estimates AS (
  -- One row per metric, treatment and arm (treatment or control): its CUPED-adjusted value, and
  -- variance of that. (experiments/variant_estimates/adjusted.sql)
  SELECT
    metric, variant, arm, units, effective_units, jackknife_growth, cuped_theta, value,
    CASE
      WHEN squares > 1e-12 * square_terms AND squares > 1e-24 * units * value * value
      THEN squares / NULLIF(units - 1, 0) / units
    END AS variance  -- NULL if squares are only rounding errors, as of equal units
  FROM adjusted_moments
), variant_pairs AS (
  -- One row per metric and treatment: CUPED-adjusted value, its variance and units, those of the
  -- control, and theta. (experiments/variant_pairs/adjusted.sql)
  SELECT
    metric, variant,
    MAX(cuped_theta) AS cuped_theta,
    MAX(CASE WHEN arm = variant THEN value END) AS value,
    MAX(CASE WHEN arm = variant THEN variance END) AS variance,
    MAX(CASE WHEN arm = variant THEN variance * jackknife_growth END) AS lift_variance,
    MAX(CASE WHEN arm = variant THEN units END) AS n_units,
    MAX(CASE WHEN arm = variant THEN effective_units END) AS effective_units,
    MAX(CASE WHEN arm = 'A' THEN value END) AS value_control,
    MAX(CASE WHEN arm = 'A' THEN variance END) AS variance_control,
    MAX(CASE WHEN arm = 'A' THEN variance * jackknife_growth END) AS lift_variance_control,
    MAX(CASE WHEN arm = 'A' THEN units END) AS n_units_control,
    MAX(CASE WHEN arm = 'A' THEN effective_units END) AS effective_units_control
  FROM variant_estimates
  GROUP BY metric, variant
), variance_shares AS (
  -- One row per metric and treatment: both values and variances, and its share of the variance of
  -- their difference and of their ratio. (experiments/variance_shares.sql)
  SELECT
    metric, variant, cuped_theta, value, variance, lift_variance, n_units, effective_units,
    value_control, variance_control, n_units_control, effective_units_control,
    -- of the variance of the difference
    variance / NULLIF(variance + variance_control, 0) AS variance_share,
    -- of that of the ratio value / value_control, to first order
    lift_variance / NULLIF(
      lift_variance
      + value / NULLIF(value_control, 0) * (value / NULLIF(value_control, 0))
      * lift_variance_control,
      0
    ) AS relative_variance_share
  FROM variant_pairs
  WHERE variant <> 'A' AND n_units_control > 0
), effects AS (
  -- One row per metric and treatment: difference from the control, relative one by the log of the
  -- ratio, standard errors and df. (experiments/effects/log.sql)
  SELECT
    metric, variant, cuped_theta, value, n_units, value_control, n_units_control,
    value - value_control AS difference, SQRT(variance + variance_control) AS se,
    -- by Welch
    1 / NULLIF(
      variance_share * variance_share / NULLIF(effective_units - 1, 0)
      + (1 - variance_share) * (1 - variance_share) / NULLIF(effective_units_control - 1, 0),
      0
    ) AS df,
    CASE
      WHEN value > 0 AND value_control > 0 THEN value / value_control - 1
    END AS relative_difference,
    -- of the log of the ratio: variance over its share
    SQRT(lift_variance / NULLIF(relative_variance_share, 0)) / NULLIF(value, 0) AS relative_se,
    1 / NULLIF(
      relative_variance_share * relative_variance_share / NULLIF(effective_units - 1, 0)
      + (1 - relative_variance_share) * (1 - relative_variance_share)
      / NULLIF(effective_units_control - 1, 0),
      0
    ) AS relative_df,
    -- 1 - confidence, over the number of intervals if corrected
    (1 - 0.95e0) / COUNT(*) OVER () AS alpha
  FROM variance_shares
), quadrature_nodes AS (
  -- One row per node of an integral: its position and weight. An integral from 0 up is the sum of
  -- weight times the integrand at node. The weight is the distance between nodes, which grows from
  -- almost 0 to 1.8. (experiments/quadrature_nodes.sql)
  SELECT
    4 * LN(1 + EXP(0.45e0 * number - 31)) AS node, 1.8 / (1 + EXP(31 - 0.45e0 * number)) AS weight
  FROM GENERATE_SERIES(0, 99) AS series(number)
), purposes AS (
  -- One row per purpose of a value of Student's t.
  SELECT 'p' AS purpose UNION ALL SELECT 'difference' AS purpose UNION ALL SELECT 'lift' AS purpose
  UNION ALL SELECT 'test' AS purpose UNION ALL SELECT 'power' AS purpose
), t_requests AS (
  -- One row per metric, treatment and purpose: df, alpha and t * t / df, from which steps to
  -- critical_values compute Student's t. (experiments/t_requests.sql)
  SELECT
    metric, variant, purpose,
    CASE WHEN purpose = 'lift' THEN relative_df ELSE df END AS df,
    CASE purpose
      WHEN 'test' THEN 1 - 0.95e0
      WHEN 'power' THEN 2 - 2 * 0.8e0
      ELSE alpha
    END AS alpha,
    difference * difference / NULLIF(se * se * df, 0) AS t_squared_by_df
  FROM effects
  CROSS JOIN purposes
), t_normalizers AS (
  -- One row per metric, treatment and purpose: integral of the density of z from 0 up. z is t on a
  -- nearly normal scale: t^2 = df * (EXP(z^2 / df) - 1). Its density is EXP(-z^2 / 2) / SQRT((1 -
  -- EXP(-x)) / x), x = z^2 / df, times a constant. (e^x - 1) / ln(e^x) keeps digits.
  -- (experiments/t_normalizers.sql)
  SELECT
    metric, variant, purpose, df, alpha, t_squared_by_df,
    SQRT(-2 * LN(alpha / 2)) AS z_bound,  -- above the normal quantile, for its approximation
    -- sum over nodes, at z = node / 4
    SUM(
      weight / 4 * EXP(-node * node / 32) / SQRT(
        COALESCE((EXP(-node * node / 16 / df) - 1) / NULLIF(LN(EXP(-node * node / 16 / df)), 0), 1)
      )
    ) AS normalizer
  FROM t_requests
  CROSS JOIN quadrature_nodes
  GROUP BY metric, variant, purpose, df, alpha, t_squared_by_df
), t_first_guesses AS (
  -- One row per metric, treatment and purpose: z of its p-value, or a first guess of that of its
  -- quantile. For a p-value t is known, and z^2 = df * LN(1 + t^2 / df). For a quantile z is
  -- guessed from a normal quantile and df, to 0.04. LN(1 + x) * x / (1 + x - 1) keeps its digits.
  -- (experiments/t_first_guesses.sql)
  SELECT
    metric, variant, purpose, df, alpha, normalizer,
    CASE
      WHEN purpose = 'p'
      THEN SQRT(
        df * COALESCE(
          LN(1 + t_squared_by_df) * t_squared_by_df / NULLIF(1 + t_squared_by_df - 1, 0),
          t_squared_by_df
        )
      )
      ELSE z_bound
      - (2.515517 + z_bound * (0.802853 + z_bound * 0.010328))
      / (1 + z_bound * (1.432788 + z_bound * (0.189269 + z_bound * 0.001308)))
      + (z_bound - 1.12) / (4 * df + 0.44 * z_bound * z_bound - 2.1)
    END AS z
  FROM t_normalizers
), t_integrals_1 AS (
  -- One row per metric, treatment and purpose: z, and integral of the density beyond it, times
  -- EXP(z * z / 2). EXP(-step * (z + step / 2)) is the normal density at z + step over that at z,
  -- step = node / (4 + z). (experiments/t_integrals.sql)
  SELECT
    metric, variant, purpose, df, alpha, normalizer, z,
    SUM(
      weight / (4 + z) * EXP(-node / (4 + z) * (z + node / (4 + z) / 2)) / SQRT(
        COALESCE(
          (EXP(-(z + node / (4 + z)) * (z + node / (4 + z)) / df) - 1)
          / NULLIF(LN(EXP(-(z + node / (4 + z)) * (z + node / (4 + z)) / df)), 0),
          1
        )
      )
    ) AS tail
  FROM t_first_guesses
  CROSS JOIN quadrature_nodes
  GROUP BY metric, variant, purpose, df, alpha, normalizer, z
), t_quantiles_1 AS (
  -- One row per metric, treatment and purpose: z after a Newton step towards the tail alpha, and
  -- log p-value of z before it. (experiments/t_quantiles.sql)
  SELECT
    metric, variant, purpose, df, alpha, normalizer,
    -- plus the gap of the logs of tail and alpha over its slope
    CASE
      WHEN purpose = 'p' THEN z
      ELSE z
      + (LN(tail / normalizer / alpha) - z * z / 2) * tail
      * SQRT(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LN(EXP(-z * z / df)), 0), 1))
    END AS z
  FROM t_integrals_1
), t_integrals_2 AS (
  -- One row per metric, treatment and purpose, as in t_integrals_1.
  SELECT
    metric, variant, purpose, df, alpha, normalizer, z,
    SUM(
      weight / (4 + z) * EXP(-node / (4 + z) * (z + node / (4 + z) / 2)) / SQRT(
        COALESCE(
          (EXP(-(z + node / (4 + z)) * (z + node / (4 + z)) / df) - 1)
          / NULLIF(LN(EXP(-(z + node / (4 + z)) * (z + node / (4 + z)) / df)), 0),
          1
        )
      )
    ) AS tail
  FROM t_quantiles_1
  CROSS JOIN quadrature_nodes
  GROUP BY metric, variant, purpose, df, alpha, normalizer, z
), t_quantiles_2 AS (
  -- One row per metric, treatment and purpose, as in t_quantiles_1.
  SELECT
    metric, variant, purpose, df, alpha, normalizer,
    CASE
      WHEN purpose = 'p' THEN z
      ELSE z
      + (LN(tail / normalizer / alpha) - z * z / 2) * tail
      * SQRT(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LN(EXP(-z * z / df)), 0), 1))
    END AS z
  FROM t_integrals_2
), t_integrals_3 AS (
  -- One row per metric, treatment and purpose, as in t_integrals_1.
  SELECT
    metric, variant, purpose, df, alpha, normalizer, z,
    SUM(
      weight / (4 + z) * EXP(-node / (4 + z) * (z + node / (4 + z) / 2)) / SQRT(
        COALESCE(
          (EXP(-(z + node / (4 + z)) * (z + node / (4 + z)) / df) - 1)
          / NULLIF(LN(EXP(-(z + node / (4 + z)) * (z + node / (4 + z)) / df)), 0),
          1
        )
      )
    ) AS tail
  FROM t_quantiles_2
  CROSS JOIN quadrature_nodes
  GROUP BY metric, variant, purpose, df, alpha, normalizer, z
), t_quantiles_3 AS MATERIALIZED (
  -- One row per metric, treatment and purpose, as in t_quantiles_1.
  SELECT
    metric, variant, purpose, df,
    LN(tail / normalizer) - z * z / 2 AS log_p,
    CASE
      WHEN purpose = 'p' THEN z
      ELSE z
      + (LN(tail / normalizer / alpha) - z * z / 2) * tail
      * SQRT(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LN(EXP(-z * z / df)), 0), 1))
    END AS z
  FROM t_integrals_3
), t_critical_values AS (
  -- One row per metric, treatment and purpose: quantile of Student's t and p-value. z stands for t
  -- by t^2 = df * (EXP(z^2 / df) - 1), which is written so that no digits are lost where z^2 / df
  -- is small. (experiments/t_critical_values.sql)
  SELECT
    metric, variant, purpose,
    z * EXP(z * z / df / 2)
    * SQRT(COALESCE((EXP(-z * z / df) - 1) / NULLIF(LN(EXP(-z * z / df)), 0), 1)) AS t_quantile,
    CASE
      WHEN log_p > 0 THEN 1
      ELSE CASE WHEN log_p < -700 THEN 0 ELSE EXP(log_p) END
    END AS p_value
  FROM t_quantiles_3
), critical_values AS (
  -- One row per metric and treatment: critical values by Student's t of both differences and of the
  -- MDE, and two-sided p-value. (experiments/critical_values/fixed.sql)
  SELECT
    metric, variant,
    -- of the absolute difference
    MAX(CASE WHEN purpose = 'difference' THEN t_quantile END) AS critical_value,
    -- of the relative one
    MAX(CASE WHEN purpose = 'lift' THEN t_quantile END) AS relative_critical_value,
    MAX(CASE WHEN purpose = 'test' THEN t_quantile END)
    + MAX(CASE WHEN purpose = 'power' THEN t_quantile END) AS mde_critical_value,
    MAX(CASE WHEN purpose = 'p' THEN p_value END) AS p_value
  FROM t_critical_values
  GROUP BY metric, variant
), p_value_ranks AS (
  -- One row per metric and treatment: critical values, p-value, and its rank, 1 the least.
  -- (experiments/p_value_ranks.sql)
  SELECT
    metric, variant, critical_value, relative_critical_value, mde_critical_value, p_value,
    CAST(ROW_NUMBER() OVER (
      ORDER BY CASE WHEN p_value IS NULL THEN 1 ELSE 0 END, p_value, metric, variant
    ) AS BIGINT) AS p_rank,
    COUNT(p_value) OVER () AS num_tests
  FROM critical_values
), corrected_p_values AS (
  -- One row per metric and treatment: critical values, and p-value, also corrected for the
  -- family-wise error rate. (experiments/corrected_p_values/holm.sql)
  SELECT
    metric, variant, critical_value, relative_critical_value, mde_critical_value, p_value,
    CASE
      WHEN p_value IS NOT NULL
      THEN MAX(CASE
        WHEN (num_tests - p_rank + 1) * p_value < 1 THEN (num_tests - p_rank + 1) * p_value
        ELSE 1
      END) OVER rows_so_far
    END AS p_adjusted
  FROM p_value_ranks
  WINDOW rows_so_far AS (ORDER BY p_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), sample_ratio_counts AS (
  -- One row per variant: its units, all units, and its expected share.
  -- (experiments/sample_ratio_counts.sql)
  SELECT
    units, multi_variant_units,
    SUM(units) OVER () AS total_units, 1 / COUNT(*) OVER () AS expected_share
  FROM metric_moments
  WHERE metric = 'ctr'
), sample_ratio_statistic AS (
  -- One row: chi-square statistic of numbers of units against expected shares, its df, and the peak
  -- of its density. (experiments/sample_ratio_statistic.sql)
  SELECT
    MAX(total_units) AS n_units, MAX(multi_variant_units) AS multi_variant_units,
    SUM(
      (units - total_units * expected_share) * (units - total_units * expected_share)
      / NULLIF(total_units * expected_share, 0)
    ) AS statistic,
    CAST(COUNT(*) - 1 AS DOUBLE) AS df,
    CASE WHEN COUNT(*) > 2 THEN SQRT(COUNT(*) - 2) ELSE 0 END AS peak
  FROM sample_ratio_counts
), lower_limits AS (
  -- One row per integral.
  SELECT 1 AS is_tail, SQRT(statistic) AS root FROM sample_ratio_statistic
  UNION ALL
  SELECT 0 AS is_tail, 0 AS root
), chi_square_tails AS (
  -- One row per integral, of the tail and of all: where it starts, and how steep the density is
  -- there. Integrals are over the root of chi-square. (experiments/chi_square_tails.sql)
  SELECT
    df, peak,
    is_tail,  -- 1 from the statistic up, 0 of the whole density
    -- the density counts as 0 at 8 below its peak
    CASE WHEN root > peak - 8 THEN root ELSE peak - 8 END AS start_z,
    -- by which the log of the density falls there
    CASE WHEN root > peak THEN root - peak * peak / NULLIF(root, 0) ELSE 0 END AS slope
  FROM sample_ratio_statistic
  CROSS JOIN lower_limits
), chi_square_points AS (
  -- One row per integral and node: its point z and weight, the closer together, the steeper the
  -- density falls. (experiments/chi_square_points.sql)
  SELECT df, peak, is_tail, weight / (4 + slope) AS weight, start_z + node / (4 + slope) AS z
  FROM chi_square_tails
  CROSS JOIN quadrature_nodes
), chi_square_densities AS (
  -- One row per integral and point: weight, and log density z ^ (df - 1) * EXP(-z * z / 2),
  -- relative to its peak. (experiments/chi_square_densities.sql)
  SELECT
    is_tail, weight,
    CASE WHEN df > 1 THEN (df - 1) * LN(z / NULLIF(peak, 0)) ELSE 0 END
    - (z * z - peak * peak) / 2 AS log_density
  FROM chi_square_points
), sample_ratio_test AS (
  -- One row: p-value of the chi-square statistic, the integral of the density from it up over that
  -- of all. (experiments/sample_ratio_test.sql)
  SELECT
    SUM(is_tail * weight * CASE WHEN log_density < -700 THEN 0 ELSE EXP(log_density) END)
    / NULLIF(
      SUM((1 - is_tail) * weight * CASE WHEN log_density < -700 THEN 0 ELSE EXP(log_density) END),
      0
    ) AS p_value
  FROM chi_square_densities
), results AS (
  -- One row per metric and treatment, and one for the sample ratio: effect with interval and test.
  -- (experiments/results.sql)
  SELECT
    effects.metric,
    'A' AS control,
    effects.variant, value_control, value, difference,
    difference - critical_value * se AS ci_low, difference + critical_value * se AS ci_high,
    1 - alpha AS ci_level,
    relative_difference,
    CASE
      WHEN relative_critical_value < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative_difference) * EXP(-relative_critical_value * relative_se) - 1
    END AS relative_ci_low,
    CASE
      WHEN relative_critical_value < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative_difference) * EXP(relative_critical_value * relative_se) - 1
    END AS relative_ci_high,
    se, n_units_control, effects.n_units,
    difference / NULLIF(se, 0) AS statistic,
    effects.df, corrected_p_values.p_value, p_adjusted,
    CASE
      WHEN sample_ratio_test.p_value >= 0.001 AND p_adjusted < 1 - 0.95e0
      THEN CASE WHEN difference > 0 THEN effects.variant WHEN difference < 0 THEN 'A' END
    END AS winner,
    mde_critical_value * se AS mde,
    cuped_theta, multi_variant_units
  FROM effects
  INNER JOIN corrected_p_values
    ON corrected_p_values.metric = effects.metric AND corrected_p_values.variant = effects.variant
  CROSS JOIN sample_ratio_statistic
  CROSS JOIN sample_ratio_test
  UNION ALL
  SELECT
    'sample_ratio', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    n_units, statistic, df, p_value, NULL, NULL, NULL, NULL, multi_variant_units
  FROM sample_ratio_statistic
  CROSS JOIN sample_ratio_test
)
SELECT
  metric, control, variant, value_control, value, difference, ci_low, ci_high, ci_level,
  relative_difference, relative_ci_low, relative_ci_high, se,
  CAST(n_units_control AS BIGINT) AS n_units_control,
  CAST(n_units AS BIGINT) AS n_units,
  statistic, df, p_value, p_adjusted, winner, mde, cuped_theta,
  CAST(multi_variant_units AS BIGINT) AS multi_variant_units
FROM results
ORDER BY metric NULLS FIRST, variant NULLS FIRST;
