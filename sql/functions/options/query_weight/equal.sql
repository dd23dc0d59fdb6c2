-- query_weight: 1 for every query.
CREATE MACRO query_weight(predictions, weight, positives) AS 1
