-- aggregate: mean over queries.
-- Default: this one.
CREATE MACRO aggregate(value, weight) AS AVG(value)
