-- The least value of a query.
CREATE MACRO aggregate(value, weight) AS MIN(value)
