-- cluster_weight: true clusters were sampled with equal probability.
CREATE MACRO cluster_weight(records) AS 1
