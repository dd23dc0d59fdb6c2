-- few_negatives: k, even if there are fewer negatives: missing ones count as scored below all predictions.
CREATE MACRO few_negatives(k, negatives) AS k
