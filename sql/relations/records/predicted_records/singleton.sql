-- predicted_records: one row per group and record: its predicted cluster or, if it has none, its own id as a singleton, and its true cluster.
-- Grain: group_id, record_id
SELECT
  group_id, record_id,
  predicted_cluster, -- NULL without one
  CASE WHEN predicted_cluster IS NULL THEN record_id END AS unplaced_record_id, -- the record, if it is a cluster of its own
  true_cluster -- NULL without one
FROM records
