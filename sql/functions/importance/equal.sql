-- importance: every query counts the same.
CREATE MACRO importance(predictions, weight, positives) AS 1
