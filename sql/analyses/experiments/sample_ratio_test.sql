-- sample_ratio_test: one row: p-value of the chi-square statistic, the integral of the density from it up over that of all.
-- Grain: one row
SELECT
  SUM(is_tail * weight * exp_or_zero(log_density))
  / NULLIF(SUM((1 - is_tail) * weight * exp_or_zero(log_density)), 0) AS p_value
FROM chi_square_densities
