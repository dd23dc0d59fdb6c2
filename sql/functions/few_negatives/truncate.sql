-- few_negatives: positives are compared with the negatives that there are.
-- Default: this one.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN negatives ELSE k END
