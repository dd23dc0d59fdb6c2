-- importance: the sum of the weights of the predictions of a query.
CREATE MACRO importance(predictions, weight, positives) AS weight
