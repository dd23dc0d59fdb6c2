-- labelled: one row per record; one without a true cluster is a cluster by itself, whose name is its own id.
SELECT
  group_id,
  record_id,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_alone
FROM records
