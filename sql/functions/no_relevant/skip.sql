-- no_relevant: queries for which the metric is undefined are left out.
CREATE MACRO no_relevant(value) AS value
