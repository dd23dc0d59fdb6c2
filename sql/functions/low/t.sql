-- Lower limit of Student's interval.
-- Default: this one.
CREATE MACRO low(value, reach) AS value - reach
