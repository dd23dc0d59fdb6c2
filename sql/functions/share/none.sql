-- share: the value as it is.
CREATE MACRO share(value, best) AS value
