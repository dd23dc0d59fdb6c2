-- record_weight: 1 over the size of the record's cluster, so that clusters count the same: predicted in precision, true in recall.
-- Nonzero: own_size.
CREATE MACRO record_weight(own_size, true_size) AS 1 / own_size
