-- if_undefined: the value; queries for which the metric is undefined are left out.
CREATE MACRO if_undefined(value) AS value
