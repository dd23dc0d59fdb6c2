-- if_undefined: the value, or 0 for a query for which the metric is undefined.
CREATE MACRO if_undefined(value) AS COALESCE(value, 0)
