-- record_weight: 1, so that every record counts the same.
CREATE MACRO record_weight(own_size, true_size) AS 1
