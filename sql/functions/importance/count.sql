-- importance: the number of predictions of a query.
CREATE MACRO importance(predictions, weight, positives) AS predictions
