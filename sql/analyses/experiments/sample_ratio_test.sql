-- sample_ratio_test: one row: chi-square statistic of the numbers of units against the expected shares, its df and p-value.
-- Grain: one row
SELECT
  n_units,
  multi_variant_units,
  statistic,
  df,
  SUM(is_tail * weight * CASE WHEN log_density > -700 THEN EXP(log_density) ELSE 0 END)
  / NULLIF(SUM((1 - is_tail) * weight * CASE WHEN log_density > -700 THEN EXP(log_density) ELSE 0 END), 0) AS p_value
FROM chi_square_densities
GROUP BY n_units, multi_variant_units, statistic, df
