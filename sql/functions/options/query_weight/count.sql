-- query_weight: the number of predictions of a query.
CREATE MACRO query_weight(predictions, weight, positives) AS predictions
