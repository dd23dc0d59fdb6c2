-- linearized_products: sum of products of value - ratio * denominator and of the same of the covariate, about their means.
-- The products are of values (v), denominators (d), covariates (c) and denominators of covariates (e).
-- Source: the delta method.
CREATE MACRO linearized_products(svc, sve, sdc, sde, ratio, covariate_ratio) AS
  svc - covariate_ratio * sve - ratio * sdc + ratio * covariate_ratio * sde
