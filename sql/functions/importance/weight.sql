-- importance: the total weight of the predictions of a query.
CREATE MACRO importance(predictions, weight, positives) AS weight
