-- weighting: every true cluster counts the same, in precision and in recall.
-- Nonzero: true_size.
CREATE MACRO weighting(own_size, true_size) AS 1 / true_size
