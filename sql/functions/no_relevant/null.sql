-- One query for which the metric is not defined makes the aggregate undefined.
CREATE MACRO no_relevant(value) AS value
