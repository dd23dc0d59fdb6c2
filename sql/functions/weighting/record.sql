-- weighting: every record counts the same.
-- Default: this one.
CREATE MACRO weighting(own_size, true_size) AS 1
