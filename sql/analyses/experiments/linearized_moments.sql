-- linearized_moments: one row per metric and variant: ratios, and sums of squares and products about them by the delta method.
-- Squares no greater than the rounding errors of their terms count as 0 later. Those of shares of units, such as conversions, are at least nearly
-- those at the share of all variants if fewer than 10 units are of either kind: one conversion where 4 are expected has a variance far too small.
-- The rise falls from all of the gap at 0 units to nothing at 10, which was chosen by simulation.
-- The letters of products are v for values, d for denominators, c for covariates, and e for denominators of covariates.
-- Denominators that differ cost degrees of freedom, in the ratio of Kish's effective sample size to the number of units.
-- Source: the delta method, Deng, Knoblich & Lu 2018, section 2; Kish 1965.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  units,
  effective_units,
  ratio,
  covariate_ratio,
  -- squares are units * ratio * (1 - ratio) only if each value is 0 or 1
  CASE
    WHEN fewer < 10 AND squares > 1e-12 * square_terms AND ABS(squares - units * ratio * (1 - ratio)) <= 1e-9 * squares
      AND units * rate * (1 - rate) > squares
    THEN squares + (1 - fewer / 10) * (units * rate * (1 - rate) - squares)
    ELSE squares
  END AS squares, -- raised towards the variance at the share of all variants, if a kind has fewer than 10 units
  square_terms,
  covariate_products,
  covariate_squares,
  covariate_square_terms
FROM (
  -- one row per metric and variant
  SELECT
    metric,
    variant,
    units,
    units - (units - 1) * sdd / (units * denominator * denominator + sdd) AS effective_units, -- fewer if denominators differ: few units decide
    ratio,
    covariate_ratio,
    CASE WHEN ratio < 0.5 THEN units * ratio ELSE units * (1 - ratio) END AS fewer, -- units of the rarer kind, if a value is 0 or 1
    SUM(units * ratio) OVER (PARTITION BY metric) / NULLIF(SUM(units) OVER (PARTITION BY metric), 0) AS rate, -- of all variants
    linearized_squares(svv, svd, sdd, ratio) / (denominator * denominator) AS squares,
    (svv + ratio * ratio * sdd) / (denominator * denominator) AS square_terms,
    linearized_products(svc, sve, sdc, sde, ratio, covariate_ratio) / (denominator * covariate_denominator) AS covariate_products,
    linearized_squares(scc, sce, see, covariate_ratio)
    / (covariate_denominator * covariate_denominator) AS covariate_squares,
    (scc + covariate_ratio * covariate_ratio * see) / (covariate_denominator * covariate_denominator) AS covariate_square_terms
  FROM variant_ratios
) AS plain_moments
