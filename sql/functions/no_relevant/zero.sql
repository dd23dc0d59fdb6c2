-- A query for which the metric is not defined counts 0.
-- Default: this one.
CREATE MACRO no_relevant(value) AS COALESCE(value, 0)
