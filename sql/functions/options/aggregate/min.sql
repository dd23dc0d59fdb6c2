-- aggregate: minimum over queries.
CREATE MACRO aggregate(value, weight) AS MIN(value)
