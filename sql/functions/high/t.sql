-- Upper limit of Student's interval.
-- Default: this one.
CREATE MACRO high(value, reach) AS value + reach
