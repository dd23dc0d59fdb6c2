-- A query for which the metric is not defined does not count.
CREATE MACRO no_relevant(value) AS value
