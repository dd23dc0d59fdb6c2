-- normalization: the value as it is.
CREATE MACRO normalization(value, best) AS value
