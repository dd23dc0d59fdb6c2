-- few_negatives: the metric is not defined.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN NULL ELSE k END
