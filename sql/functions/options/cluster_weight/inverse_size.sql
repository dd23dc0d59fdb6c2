-- cluster_weight: 1 over its records, since a cluster was sampled in proportion to its size, by sampling records.
CREATE MACRO cluster_weight(records) AS 1 / NULLIF(records, 0)
