-- aggregate: mean over queries.
CREATE MACRO aggregate(value, weight) AS AVG(value)
