-- record_weight: every cluster counts the same, predicted clusters in precision and true clusters in recall.
-- Nonzero: own_size.
CREATE MACRO record_weight(own_size, true_size) AS 1 / own_size
