-- few_negatives: k, or an error in evaluate if there are fewer negatives; in a printed statement the metric is undefined then.
-- Validate: too_few_negatives.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN NULL ELSE k END
