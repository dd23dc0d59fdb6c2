-- importance: 1 for every query.
CREATE MACRO importance(predictions, weight, positives) AS 1
