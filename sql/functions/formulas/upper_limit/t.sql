-- upper_limit: upper limit of Student's interval, the value plus the margin.
CREATE MACRO upper_limit(value, margin) AS value + margin
