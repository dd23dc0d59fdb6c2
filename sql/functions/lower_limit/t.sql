-- lower_limit: lower limit of Student's interval.
CREATE MACRO lower_limit(value, margin) AS value - margin
