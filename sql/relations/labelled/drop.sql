-- labelled: one row per record whose true cluster is known.
SELECT
  group_id,
  record_id,
  true_cluster,
  CASE WHEN true_cluster IS NULL THEN record_id END AS true_alone
FROM records
WHERE true_cluster IS NOT NULL
