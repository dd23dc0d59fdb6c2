-- aggregate: sum over queries.
CREATE MACRO aggregate(value, weight) AS SUM(value)
