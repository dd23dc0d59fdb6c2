-- A query for which the metric is not defined counts 1.
CREATE MACRO no_relevant(value) AS COALESCE(value, 1)
