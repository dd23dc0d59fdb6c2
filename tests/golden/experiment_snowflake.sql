-- sqlrank 0.1.0: ctr, revenue
WITH observations AS (
  /* observations: what was observed: a row per exposure, session or unit */
  SELECT
    "USER_ID" AS unit_id,
    CAST("ARM" AS VARCHAR) AS variant,
    CAST("CLICKS" AS DOUBLE) AS amount_0,
    CAST("VIEWS" AS DOUBLE) AS amount_1,
    CAST("REVENUE" AS DOUBLE) AS amount_2,
    CAST("REVENUE_BEFORE" AS DOUBLE) AS amount_3
  FROM shop.eval.visits
  WHERE "DAY" >= '2026-01-01'
), units AS (
  /* experiments/units.sql: one row per unit: its variant, and the last one in order, which is another if
   it was seen in several; its rows are added up. */
  SELECT
    MIN(variant) AS variant,
    MAX(variant) AS last_variant,
    SUM(amount_0) AS amount_0,
    SUM(amount_1) AS amount_1,
    SUM(amount_2) AS amount_2,
    SUM(amount_3) AS amount_3
  FROM observations
  GROUP BY unit_id
), usual AS (
  /* experiments/usual.sql: one row: what units that have a covariate have on average. */
  SELECT
    COALESCE(AVG(amount_3), CAST(0 AS DOUBLE)) AS amount_3
  FROM units
  WHERE variant = last_variant
), filled AS (
  /* experiments/filled.sql: units, of which those without a covariate have what is usual, and are
   counted. */
  SELECT
    u.variant, u.last_variant,
    u.amount_0 AS amount_0,
    u.amount_1 AS amount_1,
    u.amount_2 AS amount_2,
    COALESCE(u.amount_3, o.amount_3) AS amount_3
  FROM units AS u
  CROSS JOIN usual AS o
), means AS (
  /* experiments/means.sql: one row per variant: its units, and what they have on average. */
  SELECT
    variant,
    COUNT(*) AS units,
    AVG(amount_0) AS amount_0,
    AVG(amount_1) AS amount_1,
    AVG(amount_2) AS amount_2,
    AVG(amount_3) AS amount_3
  FROM filled AS units
  WHERE variant = last_variant
  GROUP BY variant
), sums AS (
  /* experiments/sums.sql: one row per variant: squares and products about the means of its units, added
   up. */
  SELECT
    u.variant,
    MAX(m.units) AS units,
    MAX(m.amount_0) AS amount_0,
    MAX(m.amount_1) AS amount_1,
    MAX(m.amount_2) AS amount_2,
    MAX(m.amount_3) AS amount_3,
    SUM((u.amount_0 - m.amount_0) * (u.amount_0 - m.amount_0)) AS amount_0_by_amount_0,
    SUM((u.amount_0 - m.amount_0) * (u.amount_1 - m.amount_1)) AS amount_0_by_amount_1,
    SUM((u.amount_1 - m.amount_1) * (u.amount_1 - m.amount_1)) AS amount_1_by_amount_1,
    SUM((u.amount_2 - m.amount_2) * (u.amount_2 - m.amount_2)) AS amount_2_by_amount_2,
    SUM((u.amount_3 - m.amount_3) * (u.amount_3 - m.amount_3)) AS amount_3_by_amount_3,
    SUM((u.amount_2 - m.amount_2) * (u.amount_3 - m.amount_3)) AS amount_2_by_amount_3
  FROM filled AS u
  INNER JOIN means AS m ON u.variant = m.variant
  WHERE u.variant = u.last_variant
  GROUP BY u.variant
), strays AS (
  /* experiments/strays.sql: one row: how many units were seen in several variants. */
  SELECT
    COUNT(*) AS crossed
  FROM units
  WHERE variant <> last_variant
), arms AS (
  /* experiments/arms.sql: one row per metric and variant: units, means, and squares and products about
   these, added up, of values (v), denominators (d), covariates (c) and their denominators (e). */
  SELECT
    'ctr' AS metric,
    s.variant, s.units,
    s.amount_0 AS value,
    s.amount_1 AS denominator,
    CAST(0 AS DOUBLE) AS covariate,
    CAST(1 AS DOUBLE) AS covariate_denominator,
    s.amount_0_by_amount_0 AS svv,
    s.amount_0_by_amount_1 AS svd,
    s.amount_1_by_amount_1 AS sdd,
    CAST(0 AS DOUBLE) AS scc,
    CAST(0 AS DOUBLE) AS sce,
    CAST(0 AS DOUBLE) AS see,
    CAST(0 AS DOUBLE) AS svc,
    CAST(0 AS DOUBLE) AS sve,
    CAST(0 AS DOUBLE) AS sdc,
    CAST(0 AS DOUBLE) AS sde
  FROM sums AS s
  CROSS JOIN strays AS k
  UNION ALL
  SELECT
    'revenue' AS metric,
    s.variant, s.units,
    s.amount_2 AS value,
    CAST(1 AS DOUBLE) AS denominator,
    s.amount_3 AS covariate,
    CAST(1 AS DOUBLE) AS covariate_denominator,
    s.amount_2_by_amount_2 AS svv,
    CAST(0 AS DOUBLE) AS svd,
    CAST(0 AS DOUBLE) AS sdd,
    s.amount_3_by_amount_3 AS scc,
    CAST(0 AS DOUBLE) AS sce,
    CAST(0 AS DOUBLE) AS see,
    s.amount_2_by_amount_3 AS svc,
    CAST(0 AS DOUBLE) AS sve,
    CAST(0 AS DOUBLE) AS sdc,
    CAST(0 AS DOUBLE) AS sde
  FROM sums AS s
  CROSS JOIN strays AS k
), pooled AS (
  /* experiments/pooled.sql: one row per metric and variant beside the control: ratios over the units of
   both, as one sample, and by how far these arms differ. */
  SELECT
    t.metric, t.variant,
    c.variant AS control,
    t.units + c.units AS units,
    CAST(t.units * c.units AS DOUBLE) / (t.units + c.units) AS half,
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
  FROM arms AS t
  INNER JOIN arms AS c ON t.metric = c.metric
  WHERE c.variant = 'A' AND t.variant <> 'A'
), slopes AS (
  /* experiments/slopes.sql: one row per metric and variant beside the control: theta, by how much values
   follow the covariate; 0 if that is constant. */
  SELECT
    metric, variant, control, centre,
    CASE
      WHEN spread > CAST('1e-12' AS DOUBLE) * (scc + centre * centre * see)
      AND spread > CAST('1e-24' AS DOUBLE) * units * centre * centre * covariate_denominator * covariate_denominator
      THEN COALESCE(covariate_denominator / NULLIF(denominator, 0) * together / NULLIF(spread, 0), 0)
      ELSE 0
    END AS theta
  FROM (
    SELECT
      metric, variant, control, units, denominator, covariate_denominator, centre, scc, see,
      svc - centre * sve - ratio * sdc
      + ratio * centre * sde
      + half * (value_apart - ratio * denominator_apart) * (covariate_apart - centre * covariate_denominator_apart) AS together,
      scc - 2 * centre * sce
      + centre * centre * see
      + half * (covariate_apart - centre * covariate_denominator_apart) * (covariate_apart - centre * covariate_denominator_apart) AS spread
    FROM pooled
  ) AS added
), adjusted AS (
  /* experiments/adjusted.sql: one row per metric, variant beside the control, and arm of these two: its
   value, less what the covariate foretold, and the squared standard error of that. */
  SELECT
    metric, variant, control, arm, units, theta, value,
    CASE
      WHEN squares > CAST('1e-12' AS DOUBLE) * added
      AND squares > CAST('1e-24' AS DOUBLE) * units * value * value
      THEN squares / NULLIF(units - 1, 0) / units
      WHEN NOT squares IS NULL AND units > 1
      THEN CAST(0 AS DOUBLE)
    END AS error
  FROM (
    SELECT
      metric, variant, control, arm, units, theta,
      CASE WHEN theta = 0 THEN ratio ELSE ratio - theta * (covariate_ratio - centre) END AS value,
      CASE WHEN theta = 0 THEN vv ELSE vv - 2 * theta * vc + theta * theta * cc END AS squares,
      CASE WHEN theta = 0 THEN v_added ELSE v_added + theta * theta * c_added END AS added
    FROM (
      SELECT
        s.metric, s.variant, s.control,
        a.variant AS arm,
        a.units, s.theta, s.centre, a.ratio, a.covariate_ratio,
        (a.svv - 2 * a.ratio * a.svd + a.ratio * a.ratio * a.sdd) / (a.denominator * a.denominator) AS vv,
        (a.svv + a.ratio * a.ratio * a.sdd) / (a.denominator * a.denominator) AS v_added,
        (a.svc - a.covariate_ratio * a.sve - a.ratio * a.sdc + a.ratio * a.covariate_ratio * a.sde)
        / (a.denominator * a.covariate_denominator) AS vc,
        (a.scc - 2 * a.covariate_ratio * a.sce + a.covariate_ratio * a.covariate_ratio * a.see)
        / (a.covariate_denominator * a.covariate_denominator) AS cc,
        (a.scc + a.covariate_ratio * a.covariate_ratio * a.see)
        / (a.covariate_denominator * a.covariate_denominator) AS c_added
      FROM slopes AS s
      INNER JOIN (
        SELECT
          metric, variant, units,
          NULLIF(denominator, 0) AS denominator,
          NULLIF(covariate_denominator, 0) AS covariate_denominator,
          value / NULLIF(denominator, 0) AS ratio,
          covariate / NULLIF(covariate_denominator, 0) AS covariate_ratio,
          svv, svd, sdd, scc, sce, see, svc, sve, sdc, sde
        FROM arms
      ) AS a
        ON s.metric = a.metric
      WHERE a.variant = s.variant OR a.variant = s.control
    ) AS linear
  ) AS spread
), effects AS (
  /* experiments/effects.sql: one row per metric and variant beside the control: the difference, its
   standard error, and the degrees of freedom of that. */
  SELECT
    metric, variant, control, theta, value_control, value, error_control, error, units_control, units,
    value - value_control AS difference,
    SQRT(error + error_control) AS se,
    1
    / NULLIF(
      portion * portion / NULLIF(units - 1, 0)
      + (1 - portion) * (1 - portion) / NULLIF(units_control - 1, 0),
      0
    ) AS freedom
  FROM (
    SELECT
      t.metric, t.variant, t.control, t.theta,
      c.value AS value_control,
      t.value,
      c.error AS error_control,
      t.error,
      c.units AS units_control,
      t.units,
      t.error / NULLIF(t.error + c.error, 0) AS portion
    FROM adjusted AS t
    INNER JOIN adjusted AS c ON t.metric = c.metric AND t.variant = c.variant
    WHERE t.arm = t.variant AND c.arm = c.control
  ) AS beside
), lifts AS (
  /* experiments/lifts/log.sql: one row per metric and variant beside the control: the difference as a
   share of the control, and the standard error and the degrees of freedom of its logarithm. */
  SELECT
    metric, variant, control, theta, value_control, value, units_control, units, difference, se, freedom,
    relative,
    SQRT(added) AS relative_se,
    1
    / NULLIF(
      portion * portion / NULLIF(units - 1, 0)
      + (1 - portion) * (1 - portion) / NULLIF(units_control - 1, 0),
      0
    ) AS relative_freedom
  FROM (
    SELECT
      metric, variant, control, theta, value_control, value, units_control, units, difference, se, freedom,
      relative,
      own + theirs AS added,
      own / NULLIF(own + theirs, 0) AS portion
    FROM (
      SELECT
        metric, variant, control, theta, value_control, value, units_control, units, difference, se, freedom,
        CASE WHEN value > 0 AND value_control > 0 THEN value / NULLIF(value_control, 0) - 1 END AS relative,
        CASE WHEN value > 0 AND value_control > 0 THEN error / NULLIF(value * value, 0) END AS own,
        CASE
          WHEN value > 0 AND value_control > 0
          THEN error_control / NULLIF(value_control * value_control, 0)
        END AS theirs
      FROM effects
    ) AS shared
  ) AS together
), limits AS (
  /* experiments/limits.sql: one row per metric and variant beside the control: the interval of the
   difference, and that of the lift. */
  SELECT
    metric, control, variant, value_control, value, difference,
    CASE WHEN se > 0 THEN difference - reach * se END AS low,
    CASE WHEN se > 0 THEN difference + reach * se END AS high,
    relative,
    CASE
      WHEN relative_reach < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative) * EXP(-relative_reach * relative_se) - 1
    END AS relative_low,
    CASE
      WHEN relative_reach < 200 / NULLIF(relative_se, 0)
      THEN (1 + relative) * EXP(relative_reach * relative_se) - 1
    END AS relative_high,
    se, units_control, units,
    difference / NULLIF(se, 0) AS statistic,
    freedom, theta
  FROM (
    SELECT
      metric, control, variant, value_control, value, difference, relative, se, relative_se, units_control,
      units, freedom, theta,
      CASE
        WHEN freedom < 3
        THEN EXP(
          CAST(0.6729463657868585 AS DOUBLE)
          + (
            CAST(1.2100078151769007 AS DOUBLE)
            + (
              CAST(0.7100909206161684 AS DOUBLE)
              + (
                CAST(0.1446265083543161 AS DOUBLE)
                + (
                  -CAST(0.23723330007975837 AS DOUBLE)
                  + (
                    CAST(0.031595397834545194 AS DOUBLE)
                    + (
                      -CAST(0.19569862284927034 AS DOUBLE)
                      + (
                        CAST(0.5647162723720758 AS DOUBLE)
                        + (
                          -CAST(0.6258081393377326 AS DOUBLE)
                          + (
                            CAST(0.36610490466289475 AS DOUBLE)
                            + (-CAST(0.11452503893591236 AS DOUBLE) + CAST(0.015267352459470309 AS DOUBLE) / freedom) / freedom
                          )
                          / freedom
                        )
                        / freedom
                      )
                      / freedom
                    )
                    / freedom
                  )
                  / freedom
                )
                / freedom
              )
              / freedom
            )
            / freedom
          )
          / freedom
        )
        ELSE CAST(1.9599639845400536 AS DOUBLE)
        + (
          CAST(2.3722712298585114 AS DOUBLE)
          + (
            CAST(2.8224987226099216 AS DOUBLE)
            + (
              CAST(2.55584205174121 AS DOUBLE)
              + (
                CAST(1.5897831427695066 AS DOUBLE)
                + (
                  CAST(0.7284722076660133 AS DOUBLE)
                  + (
                    CAST(0.6732166553417918 AS DOUBLE)
                    + (
                      -CAST(0.13803302935737824 AS DOUBLE)
                      + (
                        -CAST(1.0932322711783076 AS DOUBLE)
                        + (
                          CAST(4.192747033331032 AS DOUBLE)
                          + (-CAST(5.569680760586609 AS DOUBLE) + CAST(2.8784080636910194 AS DOUBLE) / freedom) / freedom
                        )
                        / freedom
                      )
                      / freedom
                    )
                    / freedom
                  )
                  / freedom
                )
                / freedom
              )
              / freedom
            )
            / freedom
          )
          / freedom
        )
        / freedom
      END AS reach,
      CASE
        WHEN relative_freedom < 3
        THEN EXP(
          CAST(0.6729463657868585 AS DOUBLE)
          + (
            CAST(1.2100078151769007 AS DOUBLE)
            + (
              CAST(0.7100909206161684 AS DOUBLE)
              + (
                CAST(0.1446265083543161 AS DOUBLE)
                + (
                  -CAST(0.23723330007975837 AS DOUBLE)
                  + (
                    CAST(0.031595397834545194 AS DOUBLE)
                    + (
                      -CAST(0.19569862284927034 AS DOUBLE)
                      + (
                        CAST(0.5647162723720758 AS DOUBLE)
                        + (
                          -CAST(0.6258081393377326 AS DOUBLE)
                          + (
                            CAST(0.36610490466289475 AS DOUBLE)
                            + (-CAST(0.11452503893591236 AS DOUBLE) + CAST(0.015267352459470309 AS DOUBLE) / relative_freedom)
                            / relative_freedom
                          )
                          / relative_freedom
                        )
                        / relative_freedom
                      )
                      / relative_freedom
                    )
                    / relative_freedom
                  )
                  / relative_freedom
                )
                / relative_freedom
              )
              / relative_freedom
            )
            / relative_freedom
          )
          / relative_freedom
        )
        ELSE CAST(1.9599639845400536 AS DOUBLE)
        + (
          CAST(2.3722712298585114 AS DOUBLE)
          + (
            CAST(2.8224987226099216 AS DOUBLE)
            + (
              CAST(2.55584205174121 AS DOUBLE)
              + (
                CAST(1.5897831427695066 AS DOUBLE)
                + (
                  CAST(0.7284722076660133 AS DOUBLE)
                  + (
                    CAST(0.6732166553417918 AS DOUBLE)
                    + (
                      -CAST(0.13803302935737824 AS DOUBLE)
                      + (
                        -CAST(1.0932322711783076 AS DOUBLE)
                        + (
                          CAST(4.192747033331032 AS DOUBLE)
                          + (-CAST(5.569680760586609 AS DOUBLE) + CAST(2.8784080636910194 AS DOUBLE) / relative_freedom)
                          / relative_freedom
                        )
                        / relative_freedom
                      )
                      / relative_freedom
                    )
                    / relative_freedom
                  )
                  / relative_freedom
                )
                / relative_freedom
              )
              / relative_freedom
            )
            / relative_freedom
          )
          / relative_freedom
        )
        / relative_freedom
      END AS relative_reach
    FROM lifts
  ) AS reaching
), sample_ratio AS (
  /* experiments/sample_ratio.sql: one row: how far the numbers of units are from the planned shares of
   variants, as chi-square, and its degrees of freedom. */
  SELECT
    MAX(all_units) AS units,
    SUM((units - all_units * portion) * (units - all_units * portion) / NULLIF(all_units * portion, 0))
    + MAX(all_units) * CASE WHEN SUM(portion) < 1 - CAST('1e-9' AS DOUBLE) THEN 1 - SUM(portion) ELSE 0 END AS statistic,
    COUNT(*) - 1 AS freedom
  FROM (
    SELECT
      units,
      SUM(units) OVER () AS all_units,
      CAST(1 AS DOUBLE) / COUNT(*) OVER () AS portion
    FROM arms
    WHERE metric = 'ctr'
  ) AS shared
)
SELECT
  found.metric, found.control, found.variant, found.value_control, found.value, found.difference,
  found.low, found.high, found.relative, found.relative_low, found.relative_high, found.se,
  found.units_control, found.units, found.statistic, found.freedom, found.theta,
  CAST(k.crossed AS BIGINT) AS crossed
FROM (
  SELECT
    CAST(l.metric AS VARCHAR) AS metric,
    CAST(l.control AS VARCHAR) AS control,
    CAST(l.variant AS VARCHAR) AS variant,
    l.value_control AS value_control,
    l.value AS value,
    l.difference AS difference,
    l.low AS low,
    l.high AS high,
    l.relative AS relative,
    l.relative_low AS relative_low,
    l.relative_high AS relative_high,
    l.se AS se,
    CAST(l.units_control AS BIGINT) AS units_control,
    CAST(l.units AS BIGINT) AS units,
    l.statistic AS statistic,
    l.freedom AS freedom,
    l.theta AS theta
  FROM limits AS l
  UNION ALL
  SELECT
    CAST('sample_ratio' AS VARCHAR) AS metric,
    CAST(NULL AS VARCHAR) AS control,
    CAST(NULL AS VARCHAR) AS variant,
    CAST(NULL AS DOUBLE) AS value_control,
    CAST(NULL AS DOUBLE) AS value,
    CAST(NULL AS DOUBLE) AS difference,
    CAST(NULL AS DOUBLE) AS low,
    CAST(NULL AS DOUBLE) AS high,
    CAST(NULL AS DOUBLE) AS relative,
    CAST(NULL AS DOUBLE) AS relative_low,
    CAST(NULL AS DOUBLE) AS relative_high,
    CAST(NULL AS DOUBLE) AS se,
    CAST(NULL AS BIGINT) AS units_control,
    CAST(r.units AS BIGINT) AS units,
    r.statistic AS statistic,
    CAST(r.freedom AS DOUBLE) AS freedom,
    CAST(NULL AS DOUBLE) AS theta
  FROM sample_ratio AS r
) AS found
CROSS JOIN strays AS k
ORDER BY found.metric, found.variant;
