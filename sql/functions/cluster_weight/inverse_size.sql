-- cluster_weight: records were sampled and their clusters resolved, so that clusters were sampled in proportion to their size.
CREATE MACRO cluster_weight(records) AS 1 / NULLIF(records, 0)
