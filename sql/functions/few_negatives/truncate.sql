-- few_negatives: positives are compared with all negatives.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN negatives ELSE k END
