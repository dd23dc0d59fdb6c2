-- importance: the weight of the positives of a query.
CREATE MACRO importance(predictions, weight, positives) AS positives
