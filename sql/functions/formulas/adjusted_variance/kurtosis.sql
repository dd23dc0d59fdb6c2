-- adjusted_variance: about se^2 * inflation * (t(effective_df) / t(units - 1))^2.
-- The growth is that of the squared quantile from units - 1 to the effective degrees of freedom.
-- Source: Satterthwaite 1946.
CREATE MACRO adjusted_variance(se, inflation, units, size, freedom, above, below, growth) AS
  se * se * inflation * (freedom + above) / NULLIF(freedom - below, 0) / NULLIF(growth, 0)
