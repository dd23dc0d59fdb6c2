-- Value of a metric for one row, positives and negatives each being a sample of their own: m / (m - 1) of the class stands for that of all.
-- NULL if a class has one row, of which there is no spread.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO unit_value(value, influence, units, positive_rows, all_positives, all_negatives) AS value + units * influence * SQRT(
  CASE
    WHEN all_positives < 2 OR all_negatives < 2 THEN NULL
    WHEN positive_rows > 0 THEN all_positives / NULLIF(all_positives - 1, 0)
    ELSE all_negatives / NULLIF(all_negatives - 1, 0)
  END * ((units - 1) / NULLIF(units, 0))
)
