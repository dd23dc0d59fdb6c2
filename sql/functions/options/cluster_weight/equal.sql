-- cluster_weight: 1, since true clusters were sampled with equal probability.
CREATE MACRO cluster_weight(records) AS 1
