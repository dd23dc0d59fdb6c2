-- The greatest value of a query.
CREATE MACRO aggregate(value, weight) AS MAX(value)
