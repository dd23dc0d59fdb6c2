-- weighting: every cluster counts the same: predicted ones in precision, true ones in recall.
-- Never zero: own_size.
CREATE MACRO weighting(own_size, true_size) AS 1 / own_size
