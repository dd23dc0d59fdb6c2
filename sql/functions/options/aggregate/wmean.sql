-- aggregate: mean over queries, weighted by the weight column of the queries table.
CREATE MACRO aggregate(value, weight) AS SUM(weight * value) / NULLIF(SUM(CASE WHEN value IS NULL THEN 0 ELSE weight END), 0)
