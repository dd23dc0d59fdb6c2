-- weighting: every cluster counts the same, predicted clusters in precision and true clusters in recall.
-- Nonzero: own_size.
CREATE MACRO weighting(own_size, true_size) AS 1 / own_size
