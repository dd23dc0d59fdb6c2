-- weighting: every record counts the same.
CREATE MACRO weighting(own_size, true_size) AS 1
