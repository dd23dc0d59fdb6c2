-- few_negatives: positives are compared with all negatives.
-- Default: this one.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN negatives ELSE k END
