-- few_negatives: an error, which evaluate raises; in a statement for an engine the metric is not defined.
-- Check: few_negatives.
CREATE MACRO few_negatives(k, negatives) AS CASE WHEN negatives < k THEN NULL ELSE k END
