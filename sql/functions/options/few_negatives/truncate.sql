-- few_negatives: k, or the number of negatives if there are fewer: positives are compared with all of them.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN negatives ELSE k END
