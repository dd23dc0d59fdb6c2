-- pseudo_value: value of a metric for one unit of several rows: DeLong's, or that of units of one sample if some have rows of both classes.
-- Of these the classes have no influence of mean 0 each, and the mean of values weighted by class would not be the metric.
-- Source: DeLong, DeLong & Clarke-Pearson 1988.
CREATE MACRO pseudo_value(value, influence, units, positive_rows, all_positives, all_negatives) AS value + units * influence * SQRT(
  CASE
    WHEN all_positives + all_negatives > units THEN units / NULLIF(units - 1, 0)
    WHEN all_positives < 2 OR all_negatives < 2 THEN NULL
    WHEN positive_rows > 0 THEN all_positives / NULLIF(all_positives - 1, 0)
    ELSE all_negatives / NULLIF(all_negatives - 1, 0)
  END * ((units - 1) / NULLIF(units, 0))
)
