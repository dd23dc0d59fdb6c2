-- standard_error: standard error of an AUC, if positives and negatives are two independent samples.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO standard_error(influence, num_units, label, units) AS SQRT(
  SUM(CASE WHEN label = 1 THEN influence * influence ELSE 0 END) * SUM(CASE WHEN label = 1 THEN num_units ELSE 0 END)
    / NULLIF(SUM(CASE WHEN label = 1 THEN num_units ELSE 0 END) - 1, 0)
  + SUM(CASE WHEN label = 1 THEN 0 ELSE influence * influence END) * SUM(CASE WHEN label = 1 THEN 0 ELSE num_units END)
    / NULLIF(SUM(CASE WHEN label = 1 THEN 0 ELSE num_units END) - 1, 0)
)
