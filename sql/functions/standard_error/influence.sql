-- standard_error: standard error of a metric, from the influence of each unit; influences sum to 0.
-- Source: linearisation, Deng, Knoblich & Lu 2018, section 2.
CREATE MACRO standard_error(influence, num_units, label) AS SQRT(COUNT(influence) / NULLIF(COUNT(influence) - 1, 0) * SUM(influence * influence))
