-- query_weight: the total weight of the predictions of a query.
CREATE MACRO query_weight(predictions, weight, positives) AS weight
