-- linearized_moments: one row per metric and variant: ratios, and sums of squares and products about them by the delta method.
-- Squares no greater than the rounding errors of their terms count as 0 later.
-- Source: the delta method, Deng, Knoblich & Lu 2018, section 2.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  units,
  ratio,
  covariate_ratio,
  (svv - 2 * ratio * svd + ratio * ratio * sdd) / (denominator * denominator) AS squares,
  (svv + ratio * ratio * sdd) / (denominator * denominator) AS square_terms,
  (svc - covariate_ratio * sve - ratio * sdc + ratio * covariate_ratio * sde) / (denominator * covariate_denominator) AS covariate_products,
  (scc - 2 * covariate_ratio * sce + covariate_ratio * covariate_ratio * see)
  / (covariate_denominator * covariate_denominator) AS covariate_squares,
  (scc + covariate_ratio * covariate_ratio * see) / (covariate_denominator * covariate_denominator) AS covariate_square_terms
FROM variant_ratios
