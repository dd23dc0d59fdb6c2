-- importance: how many predictions a query has.
CREATE MACRO importance(predictions, weight, positives) AS predictions
