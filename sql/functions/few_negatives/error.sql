-- few_negatives: an error in evaluate; in a printed statement the metric is undefined.
-- Validate: too_few_negatives.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN NULL ELSE k END
