-- sample_ratio_test: one row: chi-square statistic of the numbers of units against the expected shares, its df and p-value.
-- Grain: one row
SELECT
  n_units, multi_variant_units, statistic, df,
  SUM(is_tail * weight * exp_or_zero(log_density))
  / NULLIF(SUM((1 - is_tail) * weight * exp_or_zero(log_density)), 0) AS p_value
FROM chi_square_densities
GROUP BY n_units, multi_variant_units, statistic, df
