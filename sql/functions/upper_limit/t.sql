-- upper_limit: upper limit of Student's interval.
-- Default: this one.
CREATE MACRO upper_limit(value, reach) AS value + reach
