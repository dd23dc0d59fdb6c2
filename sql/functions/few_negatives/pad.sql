-- few_negatives: those that are missing count as scored below everything.
CREATE MACRO few_negatives(k, negatives) AS k
