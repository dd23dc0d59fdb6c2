-- pseudo_value: value of a metric for one row, if positives and negatives are two independent samples.
-- The factor m / (m - 1) is that of the row's class. It is NULL if a class has a single row, whose variance is unknown.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO pseudo_value(value, influence, units, positive_rows, all_positives, all_negatives) AS value + units * influence * SQRT(
  CASE
    WHEN all_positives < 2 OR all_negatives < 2 THEN NULL
    WHEN positive_rows > 0 THEN all_positives / NULLIF(all_positives - 1, 0)
    ELSE all_negatives / NULLIF(all_negatives - 1, 0)
  END * ((units - 1) / NULLIF(units, 0))
)
