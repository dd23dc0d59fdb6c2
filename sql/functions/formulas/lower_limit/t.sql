-- lower_limit: lower limit of Student's interval, the value less the margin.
CREATE MACRO lower_limit(value, margin) AS value - margin
