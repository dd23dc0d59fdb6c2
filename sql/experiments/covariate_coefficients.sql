-- covariate_coefficients: one row per metric and treatment, with theta of CUPED, the regression coefficient of the covariate; 0 if that is constant.
-- Source: Deng, Xu, Kohavi & Walker 2013 (CUPED); ratios are linearized about the ratio of all units.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  control,
  centre,
  CASE
    WHEN spread > 1e-12 * (scc + centre * centre * see) AND spread > 1e-24 * units * centre * centre * covariate_denominator * covariate_denominator
    THEN COALESCE(covariate_denominator / NULLIF(denominator, 0) * together / NULLIF(spread, 0), 0)
    ELSE 0
  END AS cuped_theta
FROM (
  SELECT
    metric,
    variant,
    control,
    units,
    denominator,
    covariate_denominator,
    centre,
    scc,
    see,
    svc - centre * sve - ratio * sdc + ratio * centre * sde
    + half * (value_apart - ratio * denominator_apart) * (covariate_apart - centre * covariate_denominator_apart) AS together,
    scc - 2 * centre * sce + centre * centre * see
    + half * (covariate_apart - centre * covariate_denominator_apart) * (covariate_apart - centre * covariate_denominator_apart) AS spread
  FROM pooled_moments
) AS added
