-- sqlrank 0.1.0 for DuckDB: experiment ctr=Ratio(clicks, views), revenue=Mean(revenue), one row per metric and variant, and one for the sample ratio
-- reads: shop.eval.visits (data)
-- settings: unit=user_id, variant=arm, control=A, covariates=(revenue=Mean(revenue_before)), where day >= '2026-01-01', confidence=0.95, correction=holm, interval=fixed, lift_scale=log, power=0.8
-- made by: sqlrank experiment 'ctr=Ratio(clicks, views)' 'revenue=Mean(revenue)' --data shop.eval.visits --unit user_id --variant arm --control A --covariate 'revenue=Mean(revenue_before)' --where "day >= '2026-01-01'" --sql
WITH observations AS (
  -- One row per exposure, session or unit.
  SELECT
    "user_id" AS unit_id,
    CAST("arm" AS TEXT) AS variant,
    CAST("clicks" AS DOUBLE) AS amount_0,
    CAST("views" AS DOUBLE) AS amount_1,
    CAST("revenue" AS DOUBLE) AS amount_2,
    CAST("revenue_before" AS DOUBLE) AS amount_3
  FROM shop.eval.visits
  WHERE "day" >= '2026-01-01'
), experiment_units AS (
  -- One row per unit, with its lowest and highest variant, which differ if it was in several, and
  -- its summed amounts. (experiments/experiment_units.sql)
  SELECT
    MIN(variant) AS variant,
    MAX(variant) AS last_variant,
    SUM(amount_0) AS amount_0,
    SUM(amount_1) AS amount_1,
    SUM(amount_2) AS amount_2,
    SUM(amount_3) AS amount_3
  FROM observations
  GROUP BY unit_id
), variant_means AS (
  -- One row per variant, with its number of units and their means.
  -- (experiments/variant_means.sql)
  SELECT
    CASE WHEN u.variant = u.last_variant THEN u.variant END AS variant,
    COUNT(*) AS units,
    SUM(CASE WHEN u.variant <> u.last_variant THEN 1 ELSE 0 END) AS multi_variant_units,
    AVG(u.amount_0) AS amount_0,
    AVG(u.amount_1) AS amount_1,
    AVG(u.amount_2) AS amount_2,
    AVG(u.amount_3) AS amount_3,
    COUNT(u.amount_3) AS amount_3_known
  FROM experiment_units AS u
  GROUP BY CASE WHEN u.variant = u.last_variant THEN u.variant END
), overall_means AS (
  -- One row per variant, with its means, and over all variants the units in several variants and
  -- the mean covariate. (experiments/overall_means.sql)
  SELECT
    variant, units,
    SUM(multi_variant_units) OVER () AS multi_variant_units,
    amount_0 AS amount_0,
    amount_1 AS amount_1,
    amount_2 AS amount_2,
    amount_3 AS amount_3,
    amount_3_known AS amount_3_known,
    COALESCE(
      SUM(CASE WHEN NOT variant IS NULL THEN amount_3_known * amount_3 END) OVER ()
      / NULLIF(SUM(CASE WHEN NOT variant IS NULL THEN amount_3_known END) OVER (), 0),
      CAST(0 AS DOUBLE)
    ) AS amount_3_usual
  FROM variant_means
), imputed_means AS (
  -- One row per variant, with its means, where units without a covariate have the overall mean.
  -- (experiments/imputed_means.sql)
  SELECT
    variant, units, multi_variant_units,
    amount_0 AS amount_0,
    amount_1 AS amount_1,
    amount_2 AS amount_2,
    amount_3_usual AS amount_3_usual,
    amount_3_usual + COALESCE((amount_3 - amount_3_usual) * amount_3_known / units, CAST(0 AS DOUBLE)) AS amount_3
  FROM overall_means
), variant_comoments AS (
  -- One row per variant, with the sums of squares and products about the means of its units.
  -- (experiments/variant_comoments.sql)
  SELECT
    u.variant,
    MAX(m.units) AS units,
    MAX(m.multi_variant_units) AS multi_variant_units,
    MAX(m.amount_0) AS amount_0,
    MAX(m.amount_1) AS amount_1,
    MAX(m.amount_2) AS amount_2,
    MAX(m.amount_3) AS amount_3,
    SUM((u.amount_0 - m.amount_0) * (u.amount_0 - m.amount_0)) AS amount_0_by_amount_0,
    SUM((u.amount_0 - m.amount_0) * (u.amount_1 - m.amount_1)) AS amount_0_by_amount_1,
    SUM((u.amount_1 - m.amount_1) * (u.amount_1 - m.amount_1)) AS amount_1_by_amount_1,
    SUM((u.amount_2 - m.amount_2) * (u.amount_2 - m.amount_2)) AS amount_2_by_amount_2,
    SUM(
      (COALESCE(u.amount_3, m.amount_3_usual) - m.amount_3) * (COALESCE(u.amount_3, m.amount_3_usual) - m.amount_3)
    ) AS amount_3_by_amount_3,
    SUM((u.amount_2 - m.amount_2) * (COALESCE(u.amount_3, m.amount_3_usual) - m.amount_3)) AS amount_2_by_amount_3
  FROM experiment_units AS u
  INNER JOIN imputed_means AS m ON u.variant = m.variant
  WHERE u.variant = u.last_variant
  GROUP BY u.variant
), metric_moments AS (
  -- One row per metric and variant, with its units, means, and sums of squares and products about
  -- the means. (experiments/metric_moments.sql)
  SELECT
    n.metric, s.variant, s.units, s.multi_variant_units,
    CASE WHEN n.metric = 'ctr' THEN s.amount_0 WHEN n.metric = 'revenue' THEN s.amount_2 END AS value,
    CASE WHEN n.metric = 'ctr' THEN s.amount_1 WHEN n.metric = 'revenue' THEN CAST(1 AS DOUBLE) END AS denominator,
    CASE WHEN n.metric = 'ctr' THEN CAST(0 AS DOUBLE) WHEN n.metric = 'revenue' THEN s.amount_3 END AS covariate,
    CAST(1 AS DOUBLE) AS covariate_denominator,
    CASE
      WHEN n.metric = 'ctr'
      THEN s.amount_0_by_amount_0
      WHEN n.metric = 'revenue'
      THEN s.amount_2_by_amount_2
    END AS svv,
    CASE
      WHEN n.metric = 'ctr'
      THEN s.amount_0_by_amount_1
      WHEN n.metric = 'revenue'
      THEN CAST(0 AS DOUBLE)
    END AS svd,
    CASE
      WHEN n.metric = 'ctr'
      THEN s.amount_1_by_amount_1
      WHEN n.metric = 'revenue'
      THEN CAST(0 AS DOUBLE)
    END AS sdd,
    CASE
      WHEN n.metric = 'ctr'
      THEN CAST(0 AS DOUBLE)
      WHEN n.metric = 'revenue'
      THEN s.amount_3_by_amount_3
    END AS scc,
    CAST(0 AS DOUBLE) AS sce,
    CAST(0 AS DOUBLE) AS see,
    CASE
      WHEN n.metric = 'ctr'
      THEN CAST(0 AS DOUBLE)
      WHEN n.metric = 'revenue'
      THEN s.amount_2_by_amount_3
    END AS svc,
    CAST(0 AS DOUBLE) AS sve,
    CAST(0 AS DOUBLE) AS sdc,
    CAST(0 AS DOUBLE) AS sde
  FROM variant_comoments AS s
  CROSS JOIN (
    SELECT 'ctr' AS metric UNION ALL SELECT 'revenue' AS metric
  ) AS n
), pooled_moments AS (
  -- One row per metric and treatment, with the moments of treatment and control as one sample,
  -- and the differences of their means. (experiments/pooled_moments.sql)
  SELECT
    t.metric, t.variant,
    c.variant AS control,
    t.units + c.units AS units,
    t.units * c.units / (t.units + c.units) AS half,
    (t.units * t.denominator + c.units * c.denominator) / (t.units + c.units) AS denominator,
    (t.units * t.covariate_denominator + c.units * c.covariate_denominator) / (t.units + c.units) AS covariate_denominator,
    (t.units * t.value + c.units * c.value)
    / NULLIF(t.units * t.denominator + c.units * c.denominator, 0) AS ratio,
    (t.units * t.covariate + c.units * c.covariate)
    / NULLIF(t.units * t.covariate_denominator + c.units * c.covariate_denominator, 0) AS centre,
    t.value - c.value AS value_apart,
    t.denominator - c.denominator AS denominator_apart,
    t.covariate - c.covariate AS covariate_apart,
    t.covariate_denominator - c.covariate_denominator AS covariate_denominator_apart,
    t.svc + c.svc AS svc,
    t.sve + c.sve AS sve,
    t.sdc + c.sdc AS sdc,
    t.sde + c.sde AS sde,
    t.scc + c.scc AS scc,
    t.sce + c.sce AS sce,
    t.see + c.see AS see
  FROM metric_moments AS t
  INNER JOIN metric_moments AS c ON t.metric = c.metric
  WHERE c.variant = 'A' AND t.variant <> 'A'
), covariate_coefficients AS (
  -- One row per metric and treatment, with theta of CUPED, the regression coefficient of the
  -- covariate; 0 if that is constant. (experiments/covariate_coefficients.sql)
  SELECT
    metric, variant, control, centre,
    CASE
      WHEN spread > 1e-12 * (scc + centre * centre * see)
      AND spread > 1e-24 * units * centre * centre * covariate_denominator * covariate_denominator
      THEN COALESCE(covariate_denominator / NULLIF(denominator, 0) * together / NULLIF(spread, 0), 0)
      ELSE 0
    END AS cuped_theta
  FROM (
    SELECT
      metric, variant, control, units, denominator, covariate_denominator, centre, scc, see,
      svc - centre * sve - ratio * sdc
      + ratio * centre * sde
      + half * (value_apart - ratio * denominator_apart) * (covariate_apart - centre * covariate_denominator_apart) AS together,
      scc - 2 * centre * sce
      + centre * centre * see
      + half * (covariate_apart - centre * covariate_denominator_apart) * (covariate_apart - centre * covariate_denominator_apart) AS spread
    FROM pooled_moments
  ) AS added
), adjusted_means AS (
  -- One row per metric, treatment, and arm (treatment or control), with its CUPED-adjusted value
  -- and the squared standard error. (experiments/adjusted_means.sql)
  SELECT
    metric, variant, control, arm, units, cuped_theta, value,
    CASE
      WHEN squares > 1e-12 * added AND squares > 1e-24 * units * value * value
      THEN squares / NULLIF(units - 1, 0) / units
      WHEN NOT squares IS NULL AND units > 1
      THEN CAST(0 AS DOUBLE)
    END AS error
  FROM (
    SELECT
      metric, variant, control, arm, units, cuped_theta,
      CASE WHEN cuped_theta = 0 THEN ratio ELSE ratio - cuped_theta * (covariate_ratio - centre) END AS value,
      CASE WHEN cuped_theta = 0 THEN vv ELSE vv - 2 * cuped_theta * vc + cuped_theta * cuped_theta * cc END AS squares,
      CASE WHEN cuped_theta = 0 THEN v_added ELSE v_added + cuped_theta * cuped_theta * c_added END AS added
    FROM (
      SELECT
        s.metric, s.variant, s.control,
        a.variant AS arm,
        a.units, s.cuped_theta, s.centre, a.ratio, a.covariate_ratio,
        (a.svv - 2 * a.ratio * a.svd + a.ratio * a.ratio * a.sdd) / (a.denominator * a.denominator) AS vv,
        (a.svv + a.ratio * a.ratio * a.sdd) / (a.denominator * a.denominator) AS v_added,
        (a.svc - a.covariate_ratio * a.sve - a.ratio * a.sdc + a.ratio * a.covariate_ratio * a.sde)
        / (a.denominator * a.covariate_denominator) AS vc,
        (a.scc - 2 * a.covariate_ratio * a.sce + a.covariate_ratio * a.covariate_ratio * a.see)
        / (a.covariate_denominator * a.covariate_denominator) AS cc,
        (a.scc + a.covariate_ratio * a.covariate_ratio * a.see)
        / (a.covariate_denominator * a.covariate_denominator) AS c_added
      FROM covariate_coefficients AS s
      INNER JOIN (
        SELECT
          metric, variant, units,
          NULLIF(denominator, 0) AS denominator,
          NULLIF(covariate_denominator, 0) AS covariate_denominator,
          value / NULLIF(denominator, 0) AS ratio,
          covariate / NULLIF(covariate_denominator, 0) AS covariate_ratio,
          svv, svd, sdd, scc, sce, see, svc, sve, sdc, sde
        FROM metric_moments
      ) AS a
        ON s.metric = a.metric
      WHERE a.variant = s.variant OR a.variant = s.control
    ) AS linear
  ) AS spread
), effects AS (
  -- One row per metric and treatment, with its difference from the control, the standard error
  -- and the degrees of freedom. (experiments/effects.sql)
  SELECT
    metric, variant, control, cuped_theta, value_control, value, error_control, error, n_units_control,
    n_units,
    value - value_control AS difference,
    SQRT(error + error_control) AS se,
    1
    / NULLIF(
      portion * portion / NULLIF(n_units - 1, 0)
      + (1 - portion) * (1 - portion) / NULLIF(n_units_control - 1, 0),
      0
    ) AS freedom
  FROM (
    SELECT
      metric, variant, control, cuped_theta, value_control, value, error_control, error, n_units_control,
      n_units,
      error / NULLIF(error + error_control, 0) AS portion
    FROM (
      SELECT
        metric, variant,
        MAX(control) AS control,
        MAX(cuped_theta) AS cuped_theta,
        MAX(CASE WHEN arm = control THEN value END) AS value_control,
        MAX(CASE WHEN arm = variant THEN value END) AS value,
        MAX(CASE WHEN arm = control THEN error END) AS error_control,
        MAX(CASE WHEN arm = variant THEN error END) AS error,
        MAX(CASE WHEN arm = control THEN units END) AS n_units_control,
        MAX(CASE WHEN arm = variant THEN units END) AS n_units
      FROM adjusted_means
      GROUP BY metric, variant
    ) AS two
  ) AS beside
), relative_effects AS (
  -- One row per metric and treatment, with the difference relative to the control, and the
  -- standard error of its logarithm. (experiments/relative_effects/log.sql)
  SELECT
    metric, variant, control, cuped_theta, value_control, value, n_units_control, n_units, difference,
    se, freedom,
    (1 - 0.95e0) / COUNT(*) OVER () AS alpha,
    relative_difference,
    SQRT(added) AS relative_se,
    1
    / NULLIF(
      portion * portion / NULLIF(n_units - 1, 0)
      + (1 - portion) * (1 - portion) / NULLIF(n_units_control - 1, 0),
      0
    ) AS relative_freedom
  FROM (
    SELECT
      metric, variant, control, cuped_theta, value_control, value, n_units_control, n_units, difference,
      se, freedom, relative_difference,
      own + theirs AS added,
      own / NULLIF(own + theirs, 0) AS portion
    FROM (
      SELECT
        metric, variant, control, cuped_theta, value_control, value, n_units_control, n_units, difference,
        se, freedom,
        CASE WHEN value > 0 AND value_control > 0 THEN value / NULLIF(value_control, 0) - 1 END AS relative_difference,
        CASE WHEN value > 0 AND value_control > 0 THEN error / NULLIF(value * value, 0) END AS own,
        CASE
          WHEN value > 0 AND value_control > 0
          THEN error_control / NULLIF(value_control * value_control, 0)
        END AS theirs
      FROM effects
    ) AS shared
  ) AS together
), quadrature_nodes AS (
  -- One row per node of a numerical integral from 0 up, with its weight.
  -- (experiments/quadrature_nodes.sql)
  SELECT
    LN(1 + EXP(0.45e0 * number - 31)) AS place,
    0.45e0 / (1 + EXP(31 - 0.45e0 * number)) AS weight
  FROM GENERATE_SERIES(0, 99) AS series(number)
), t_requests AS (
  -- One row per metric, treatment and purpose (a p-value or a quantile of Student's t), with z or
  -- a first guess of it. (experiments/t_requests.sql)
  SELECT
    metric, variant, purpose, freedom, alpha,
    CASE
      WHEN purpose = 'p'
      THEN SQRT(freedom * COALESCE(LN(1 + far) * far / NULLIF(1 + far - 1, 0), far))
      ELSE normal + normal / (4 * freedom + 0.64e0 * normal * normal)
    END AS z
  FROM (
    SELECT
      metric, variant, purpose, freedom, alpha, far,
      bound - (2.30753e0 + 0.27061e0 * bound) / (1 + bound * (0.99229e0 + 0.04481e0 * bound)) AS normal
    FROM (
      SELECT
        metric, variant, purpose, freedom, alpha,
        difference * difference / NULLIF(se * se * freedom, 0) AS far,
        SQRT(-2 * LN(alpha / 2)) AS bound
      FROM (
        SELECT
          l.metric, l.variant, w.purpose, l.difference, l.se,
          CASE WHEN w.purpose = 'lift' THEN l.relative_freedom ELSE l.freedom END AS freedom,
          CASE WHEN w.purpose = 'test' THEN 1 - 0.95e0 WHEN w.purpose = 'power' THEN 2 - 2 * 0.8e0 ELSE l.alpha END AS alpha
        FROM relative_effects AS l
        CROSS JOIN (
          SELECT 'p' AS purpose UNION ALL SELECT 'difference' AS purpose UNION ALL SELECT 'lift' AS purpose
          UNION ALL SELECT 'test' AS purpose UNION ALL SELECT 'power' AS purpose
        ) AS w
      ) AS asked
    ) AS bounded
  ) AS begun
), t_normalizers AS (
  -- One row per metric, treatment and purpose, with the integral over all z from 0 up, which tail
  -- integrals are divided by. (experiments/t_normalizers.sql)
  SELECT
    metric, variant, purpose,
    MAX(freedom) AS freedom,
    MAX(alpha) AS alpha,
    MAX(z) AS z,
    SUM(
      weight * EXP(-place * place / 2) * SQRT(
        CASE
          WHEN u < 0.01e0
          THEN 1 + u / 2 + u * u / 12 - u * u * u * u / 720
          WHEN u < 40
          THEN u / NULLIF(1 - EXP(-u), 0)
          ELSE u
        END
      )
    ) AS whole
  FROM (
    SELECT
      w.metric, w.variant, w.purpose, w.freedom, w.alpha, w.z, p.place, p.weight,
      p.place * p.place / w.freedom AS u
    FROM t_requests AS w
    CROSS JOIN quadrature_nodes AS p
  ) AS heights
  GROUP BY metric, variant, purpose
), t_newton_1 AS (
  -- One row per metric, treatment and purpose, with the log tail probability beyond z, and z
  -- after one more Newton step. (experiments/t_newton_steps.sql)
  SELECT
    metric, variant, purpose,
    MAX(freedom) AS freedom,
    MAX(alpha) AS alpha,
    MAX(whole) AS whole,
    CASE
      WHEN purpose = 'p'
      THEN MAX(z)
      ELSE MAX(z)
      + (LN(SUM(weight * height) / MAX(whole) / MAX(alpha)) - MAX(z * z) / 2) * SUM(weight * height)
      / MAX(height)
    END AS z
  FROM (
    SELECT
      metric, variant, purpose, freedom, alpha, whole, z, weight,
      EXP(-ahead * (z + ahead / 2)) * SQRT(
        CASE
          WHEN u < 0.01e0
          THEN 1 + u / 2 + u * u / 12 - u * u * u * u / 720
          WHEN u < 40
          THEN u / NULLIF(1 - EXP(-u), 0)
          ELSE u
        END
      ) AS height
    FROM (
      SELECT
        metric, variant, purpose, freedom, alpha, whole, z, weight, ahead,
        (z + ahead) * (z + ahead) / freedom AS u
      FROM (
        SELECT
          w.metric, w.variant, w.purpose, w.freedom, w.alpha, w.whole, w.z,
          4 * p.weight / (4 + w.z) AS weight,
          4 * p.place / (4 + w.z) AS ahead
        FROM t_normalizers AS w
        CROSS JOIN quadrature_nodes AS p
      ) AS moved
    ) AS bent
  ) AS heights
  GROUP BY metric, variant, purpose
), t_newton_2 AS (
  -- One row per metric, treatment and purpose, with the log tail probability beyond z, and z
  -- after one more Newton step. (experiments/t_newton_steps.sql)
  SELECT
    metric, variant, purpose,
    MAX(freedom) AS freedom,
    MAX(alpha) AS alpha,
    MAX(whole) AS whole,
    CASE
      WHEN purpose = 'p'
      THEN MAX(z)
      ELSE MAX(z)
      + (LN(SUM(weight * height) / MAX(whole) / MAX(alpha)) - MAX(z * z) / 2) * SUM(weight * height)
      / MAX(height)
    END AS z
  FROM (
    SELECT
      metric, variant, purpose, freedom, alpha, whole, z, weight,
      EXP(-ahead * (z + ahead / 2)) * SQRT(
        CASE
          WHEN u < 0.01e0
          THEN 1 + u / 2 + u * u / 12 - u * u * u * u / 720
          WHEN u < 40
          THEN u / NULLIF(1 - EXP(-u), 0)
          ELSE u
        END
      ) AS height
    FROM (
      SELECT
        metric, variant, purpose, freedom, alpha, whole, z, weight, ahead,
        (z + ahead) * (z + ahead) / freedom AS u
      FROM (
        SELECT
          w.metric, w.variant, w.purpose, w.freedom, w.alpha, w.whole, w.z,
          4 * p.weight / (4 + w.z) AS weight,
          4 * p.place / (4 + w.z) AS ahead
        FROM t_newton_1 AS w
        CROSS JOIN quadrature_nodes AS p
      ) AS moved
    ) AS bent
  ) AS heights
  GROUP BY metric, variant, purpose
), t_newton_3 AS (
  -- One row per metric, treatment and purpose, with the log tail probability beyond z, and z
  -- after one more Newton step. (experiments/t_newton_steps.sql)
  SELECT
    metric, variant, purpose,
    MAX(freedom) AS freedom,
    LN(SUM(weight * height) / MAX(whole)) - MAX(z * z) / 2 AS log_p,
    CASE
      WHEN purpose = 'p'
      THEN MAX(z)
      ELSE MAX(z)
      + (LN(SUM(weight * height) / MAX(whole) / MAX(alpha)) - MAX(z * z) / 2) * SUM(weight * height)
      / MAX(height)
    END AS z
  FROM (
    SELECT
      metric, variant, purpose, freedom, alpha, whole, z, weight,
      EXP(-ahead * (z + ahead / 2)) * SQRT(
        CASE
          WHEN u < 0.01e0
          THEN 1 + u / 2 + u * u / 12 - u * u * u * u / 720
          WHEN u < 40
          THEN u / NULLIF(1 - EXP(-u), 0)
          ELSE u
        END
      ) AS height
    FROM (
      SELECT
        metric, variant, purpose, freedom, alpha, whole, z, weight, ahead,
        (z + ahead) * (z + ahead) / freedom AS u
      FROM (
        SELECT
          w.metric, w.variant, w.purpose, w.freedom, w.alpha, w.whole, w.z,
          4 * p.weight / (4 + w.z) AS weight,
          4 * p.place / (4 + w.z) AS ahead
        FROM t_newton_2 AS w
        CROSS JOIN quadrature_nodes AS p
      ) AS moved
    ) AS bent
  ) AS heights
  GROUP BY metric, variant, purpose
), critical_values AS (
  -- One row per metric and treatment, with the critical values of its intervals by Student's t,
  -- and its log p-value. (experiments/critical_values/fixed.sql)
  SELECT
    metric, variant,
    MAX(CASE WHEN purpose = 'difference' THEN reach END) AS reach,
    MAX(CASE WHEN purpose = 'lift' THEN reach END) AS relative_reach,
    MAX(CASE WHEN purpose = 'test' THEN reach END) + MAX(CASE WHEN purpose = 'power' THEN reach END) AS found_reach,
    MAX(CASE WHEN purpose = 'p' THEN log_p END) AS log_p
  FROM (
    SELECT
      metric, variant, purpose, log_p,
      CASE
        WHEN purpose <> 'p'
        THEN z * EXP(u / 2)
        / SQRT(
          CASE
            WHEN u < 0.01e0
            THEN 1 + u / 2 + u * u / 12 - u * u * u * u / 720
            WHEN u < 40
            THEN u / NULLIF(1 - EXP(-u), 0)
            ELSE u
          END
        )
      END AS reach
    FROM (
      SELECT metric, variant, purpose, log_p, z, z * z / freedom AS u
      FROM t_newton_3
    ) AS heights
  ) AS quantiles
  GROUP BY metric, variant
), confidence_intervals AS (
  -- One row per metric and treatment, with the intervals of its difference and relative
  -- difference, NULL if no unit differs. (experiments/confidence_intervals.sql)
  SELECT
    metric, control, variant, value_control, value, difference,
    CASE WHEN se > 0 THEN difference - reach * se END AS ci_low,
    CASE WHEN se > 0 THEN difference + reach * se END AS ci_high,
    1 - alpha AS ci_level,
    relative_difference,
    CASE
      WHEN relative_reach < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative_difference) * EXP(-relative_reach * relative_se) - 1
    END AS relative_ci_low,
    CASE
      WHEN relative_reach < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative_difference) * EXP(relative_reach * relative_se) - 1
    END AS relative_ci_high,
    se, n_units_control, n_units,
    difference / NULLIF(se, 0) AS statistic,
    freedom AS df,
    CASE WHEN se > 0 THEN found_reach * se END AS mde,
    cuped_theta, log_p
  FROM (
    SELECT
      l.metric, l.control, l.variant, l.value_control, l.value, l.difference, l.alpha,
      l.relative_difference, l.se, l.relative_se, l.n_units_control, l.n_units, l.freedom, l.cuped_theta,
      r.reach, r.relative_reach, r.found_reach, r.log_p
    FROM relative_effects AS l
    INNER JOIN critical_values AS r ON l.metric = r.metric AND l.variant = r.variant
  ) AS reaching
), p_values AS (
  -- One row per metric and treatment, with its two-sided p-value and the rank of that among all.
  -- (experiments/p_values.sql)
  SELECT
    metric, control, variant, value_control, value, difference, ci_low, ci_high, ci_level,
    relative_difference, relative_ci_low, relative_ci_high, se, n_units_control, n_units, statistic, df,
    mde, cuped_theta, p_value,
    CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN p_value IS NULL THEN 1 ELSE 0 END, p_value, metric, variant) AS BIGINT) AS place,
    COUNT(p_value) OVER () AS many
  FROM (
    SELECT
      metric, control, variant, value_control, value, difference, ci_low, ci_high, ci_level,
      relative_difference, relative_ci_low, relative_ci_high, se, n_units_control, n_units, statistic, df,
      mde, cuped_theta,
      CASE
        WHEN log_p > 0
        THEN 1
        WHEN log_p > -700
        THEN EXP(log_p)
        WHEN NOT log_p IS NULL
        THEN 0
        WHEN NOT se IS NULL
        AND (ABS(difference) <= 1e-12 * ABS(value) OR ABS(difference) <= 1e-12 * ABS(value_control))
        THEN 1
      END AS p_value
    FROM confidence_intervals
  ) AS judged
), corrected_p_values AS (
  -- One row per metric and treatment, with its p-value and the p-value corrected for multiple
  -- tests. (experiments/corrected_p_values.sql)
  SELECT
    metric, control, variant, value_control, value, difference, ci_low, ci_high, ci_level,
    relative_difference, relative_ci_low, relative_ci_high, se, n_units_control, n_units, statistic, df,
    mde, cuped_theta, p_value,
    CASE
      WHEN NOT p_value IS NULL
      THEN MAX(CASE WHEN (many - place + 1) * p_value < 1 THEN (many - place + 1) * p_value ELSE 1 END) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
    END AS p_adjusted
  FROM p_values
), sample_ratio_statistic AS (
  -- One row, with the chi-square statistic of the numbers of units against the planned shares of
  -- variants. (experiments/sample_ratio_statistic.sql)
  SELECT
    MAX(all_units) AS units,
    SUM((units - all_units * portion) * (units - all_units * portion) / NULLIF(all_units * portion, 0))
    + MAX(all_units) * CASE WHEN SUM(portion) < 1 - 1e-9 THEN 1 - SUM(portion) ELSE 0 END AS statistic,
    COUNT(*) - 1 AS freedom,
    MAX(multi_variant_units) AS multi_variant_units
  FROM (
    SELECT
      units, multi_variant_units,
      SUM(units) OVER () AS all_units,
      1 / COUNT(*) OVER () AS portion
    FROM metric_moments
    WHERE metric = 'ctr'
  ) AS shared
), sample_ratio_test AS (
  -- One row, with the chi-square test of the numbers of units against the planned shares, and its
  -- p-value. (experiments/sample_ratio_test.sql)
  SELECT
    MAX(units) AS n_units,
    MAX(statistic) AS statistic,
    MAX(freedom) AS df,
    MAX(multi_variant_units) AS multi_variant_units,
    SUM(is_tail * weight * height) / NULLIF(SUM((1 - is_tail) * weight * height), 0) AS p_value
  FROM (
    SELECT
      units, statistic, freedom, multi_variant_units, is_tail, weight,
      CASE WHEN log_height > -700 THEN EXP(log_height) ELSE 0 END AS height
    FROM (
      SELECT
        units, statistic, freedom, multi_variant_units, is_tail, weight,
        CASE WHEN freedom > 1 THEN (freedom - 1) * LN(z / NULLIF(peak, 0)) ELSE 0 END
        - (z * z - peak * peak) / 2 AS log_height
      FROM (
        SELECT
          b.units, b.statistic, b.freedom, b.multi_variant_units, b.is_tail, b.peak,
          4 * p.weight / (4 + b.slope) AS weight,
          b.z + 4 * p.place / (4 + b.slope) AS z
        FROM (
          SELECT
            units, statistic, freedom, multi_variant_units, is_tail, peak,
            CASE WHEN root > peak - 8 THEN root ELSE peak - 8 END AS z,
            CASE WHEN root > peak THEN root - peak * peak / NULLIF(root, 0) ELSE 0 END AS slope
          FROM (
            SELECT
              r.units, r.statistic, r.freedom, r.multi_variant_units, t.is_tail,
              CASE WHEN r.freedom > 1 THEN SQRT(r.freedom - 1) ELSE 0 END AS peak,
              SQRT(t.is_tail * r.statistic) AS root
            FROM sample_ratio_statistic AS r
            CROSS JOIN (
              SELECT 0 AS is_tail UNION ALL SELECT 1 AS is_tail
            ) AS t
          ) AS rooted
        ) AS b
        CROSS JOIN quadrature_nodes AS p
      ) AS moved
    ) AS logs
  ) AS heights
), results AS (
  -- One row per metric and treatment, with its effect, its p-value, and the better of treatment
  -- and control. (experiments/results.sql)
  SELECT
    l.metric, l.control, l.variant, l.value_control, l.value, l.difference, l.ci_low, l.ci_high,
    l.ci_level, l.relative_difference, l.relative_ci_low, l.relative_ci_high, l.se, l.n_units_control,
    l.n_units, l.statistic, l.df, l.p_value, l.p_adjusted,
    CASE
      WHEN m.p_value >= 0.001e0 AND l.p_adjusted < 1 - 0.95e0 AND l.difference > 0
      THEN l.variant
      WHEN m.p_value >= 0.001e0 AND l.p_adjusted < 1 - 0.95e0 AND l.difference < 0
      THEN l.control
    END AS winner,
    l.mde, l.cuped_theta, m.multi_variant_units
  FROM corrected_p_values AS l
  CROSS JOIN sample_ratio_test AS m
)
SELECT
  found.metric, found.control, found.variant, found.value_control, found.value, found.difference,
  found.ci_low, found.ci_high, found.ci_level, found.relative_difference, found.relative_ci_low,
  found.relative_ci_high, found.se, found.n_units_control, found.n_units, found.statistic, found.df,
  found.p_value, found.p_adjusted, found.winner, found.mde, found.cuped_theta,
  found.multi_variant_units
FROM (
  SELECT
    CAST(v.metric AS TEXT) AS metric,
    CAST(v.control AS TEXT) AS control,
    CAST(v.variant AS TEXT) AS variant,
    v.value_control AS value_control,
    v.value AS value,
    v.difference AS difference,
    v.ci_low AS ci_low,
    v.ci_high AS ci_high,
    v.ci_level AS ci_level,
    v.relative_difference AS relative_difference,
    v.relative_ci_low AS relative_ci_low,
    v.relative_ci_high AS relative_ci_high,
    v.se AS se,
    CAST(v.n_units_control AS BIGINT) AS n_units_control,
    CAST(v.n_units AS BIGINT) AS n_units,
    v.statistic AS statistic,
    v.df AS df,
    v.p_value AS p_value,
    v.p_adjusted AS p_adjusted,
    CAST(v.winner AS TEXT) AS winner,
    v.mde AS mde,
    v.cuped_theta AS cuped_theta,
    CAST(v.multi_variant_units AS BIGINT) AS multi_variant_units
  FROM results AS v
  UNION ALL
  SELECT
    CAST('sample_ratio' AS TEXT) AS metric,
    CAST(NULL AS TEXT) AS control,
    CAST(NULL AS TEXT) AS variant,
    CAST(NULL AS DOUBLE) AS value_control,
    CAST(NULL AS DOUBLE) AS value,
    CAST(NULL AS DOUBLE) AS difference,
    CAST(NULL AS DOUBLE) AS ci_low,
    CAST(NULL AS DOUBLE) AS ci_high,
    CAST(NULL AS DOUBLE) AS ci_level,
    CAST(NULL AS DOUBLE) AS relative_difference,
    CAST(NULL AS DOUBLE) AS relative_ci_low,
    CAST(NULL AS DOUBLE) AS relative_ci_high,
    CAST(NULL AS DOUBLE) AS se,
    CAST(NULL AS BIGINT) AS n_units_control,
    CAST(m.n_units AS BIGINT) AS n_units,
    m.statistic AS statistic,
    CAST(m.df AS DOUBLE) AS df,
    m.p_value AS p_value,
    CAST(NULL AS DOUBLE) AS p_adjusted,
    CAST(NULL AS TEXT) AS winner,
    CAST(NULL AS DOUBLE) AS mde,
    CAST(NULL AS DOUBLE) AS cuped_theta,
    CAST(m.multi_variant_units AS BIGINT) AS multi_variant_units
  FROM sample_ratio_test AS m
) AS found
ORDER BY found.metric, found.variant;
