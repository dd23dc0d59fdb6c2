-- query_weight: the weight of the positives of a query.
CREATE MACRO query_weight(predictions, weight, positives) AS positives
