-- no_relevant: NULL for a query for which the metric is undefined, which makes the aggregate undefined.
CREATE MACRO no_relevant(value) AS value
