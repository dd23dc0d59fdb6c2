-- lower_limit: lower limit of Student's interval.
-- Default: this one.
CREATE MACRO lower_limit(value, reach) AS value - reach
