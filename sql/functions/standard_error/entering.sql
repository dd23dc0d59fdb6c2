-- standard_error: standard error of a metric, from the influence of each unit; units of influence NULL count, too.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
CREATE MACRO standard_error(influence, num_units, label) AS SQRT(COUNT(*) / NULLIF(COUNT(*) - 1, 0) * SUM(influence * influence))
