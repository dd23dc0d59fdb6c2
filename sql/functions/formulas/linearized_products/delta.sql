-- linearized_products: sum of products of value - ratio * denominator and of the same of the covariate, about their means.
-- An argument of two names is the sum of their products about their means; base is the covariate's denominator.
-- Source: the delta method.
CREATE MACRO linearized_products(value_covariate, value_base, denominator_covariate, denominator_base, ratio, covariate_ratio) AS
  value_covariate - covariate_ratio * value_base - ratio * denominator_covariate + ratio * covariate_ratio * denominator_base
