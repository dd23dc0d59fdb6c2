-- standard_error: standard error of a metric, from rows that represent several units each.
-- The influence of a row is the root of the sum of the squared influences of its units.
CREATE MACRO standard_error(influence, num_units, label) AS SQRT(SUM(num_units) / NULLIF(SUM(num_units) - 1, 0) * SUM(influence * influence))
