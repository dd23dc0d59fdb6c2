-- upper_limit: upper limit of Student's interval.
CREATE MACRO upper_limit(value, margin) AS value + margin
