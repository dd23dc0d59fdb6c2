-- if_undefined: the value, or NULL for a query for which the metric is undefined, which makes the aggregate undefined.
CREATE MACRO if_undefined(value) AS value
