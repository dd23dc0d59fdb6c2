-- few_negatives: missing negatives count as scored below all predictions.
CREATE MACRO few_negatives(k, negatives) AS k
