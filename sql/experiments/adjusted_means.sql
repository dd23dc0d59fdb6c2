-- adjusted_means: one row per metric, treatment, and arm (treatment or control), with its CUPED-adjusted value and the squared standard error.
-- Squares no greater than rounding errors count as 0.
-- Source: the delta method, Deng, Knoblich & Lu 2018, section 2.
-- Grain: metric, variant, arm
SELECT
  metric,
  variant,
  control,
  arm,
  units,
  cuped_theta,
  value,
  CASE
    WHEN squares > 1e-12 * added AND squares > 1e-24 * units * value * value THEN squares / NULLIF(units - 1, 0) / units
    WHEN squares IS NOT NULL AND units > 1 THEN CAST(0 AS DOUBLE)
  END AS error
FROM (
  SELECT
    metric,
    variant,
    control,
    arm,
    units,
    cuped_theta,
    CASE WHEN cuped_theta = 0 THEN ratio ELSE ratio - cuped_theta * (covariate_ratio - centre) END AS value,
    CASE WHEN cuped_theta = 0 THEN vv ELSE vv - 2 * cuped_theta * vc + cuped_theta * cuped_theta * cc END AS squares,
    CASE WHEN cuped_theta = 0 THEN v_added ELSE v_added + cuped_theta * cuped_theta * c_added END AS added
  FROM (
    SELECT
      s.metric,
      s.variant,
      s.control,
      a.variant AS arm,
      a.units,
      s.cuped_theta,
      s.centre,
      a.ratio,
      a.covariate_ratio,
      (a.svv - 2 * a.ratio * a.svd + a.ratio * a.ratio * a.sdd) / (a.denominator * a.denominator) AS vv,
      (a.svv + a.ratio * a.ratio * a.sdd) / (a.denominator * a.denominator) AS v_added,
      (a.svc - a.covariate_ratio * a.sve - a.ratio * a.sdc + a.ratio * a.covariate_ratio * a.sde)
      / (a.denominator * a.covariate_denominator) AS vc,
      (a.scc - 2 * a.covariate_ratio * a.sce + a.covariate_ratio * a.covariate_ratio * a.see)
      / (a.covariate_denominator * a.covariate_denominator) AS cc,
      (a.scc + a.covariate_ratio * a.covariate_ratio * a.see) / (a.covariate_denominator * a.covariate_denominator) AS c_added
    FROM covariate_coefficients AS s
    INNER JOIN (
      SELECT
        metric,
        variant,
        units,
        NULLIF(denominator, 0) AS denominator,
        NULLIF(covariate_denominator, 0) AS covariate_denominator,
        value / NULLIF(denominator, 0) AS ratio,
        covariate / NULLIF(covariate_denominator, 0) AS covariate_ratio,
        svv,
        svd,
        sdd,
        scc,
        sce,
        see,
        svc,
        sve,
        sdc,
        sde
      FROM metric_moments
    ) AS a ON s.metric = a.metric
    WHERE a.variant = s.variant OR a.variant = s.control
  ) AS linear
) AS spread
