-- record_weight: 1 over the size of its true cluster, so that these count the same, in precision and in recall.
-- Nonzero: true_size.
CREATE MACRO record_weight(own_size, true_size) AS 1 / true_size
