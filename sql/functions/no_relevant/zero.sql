-- no_relevant: 0 for a query for which the metric is undefined.
CREATE MACRO no_relevant(value) AS COALESCE(value, 0)
