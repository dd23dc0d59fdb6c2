-- aggregate: maximum over queries.
CREATE MACRO aggregate(value, weight) AS MAX(value)
