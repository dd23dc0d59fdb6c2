-- few_negatives: k, or NULL if there are fewer negatives: the metric is undefined then.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN NULL ELSE k END
