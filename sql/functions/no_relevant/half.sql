-- A query for which the metric is not defined counts 0.5.
CREATE MACRO no_relevant(value) AS COALESCE(value, 0.5)
