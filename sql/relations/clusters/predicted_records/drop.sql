-- predicted_records: one row per group and record that has a predicted cluster: its predicted and true cluster, and NULL for a singleton's id.
-- Grain: group_id, record_id
SELECT
  group_id,
  record_id,
  predicted_cluster,
  CASE WHEN predicted_cluster IS NULL THEN record_id END AS unplaced_record_id, -- NULL: every record has a predicted cluster
  true_cluster -- NULL without one
FROM records
WHERE predicted_cluster IS NOT NULL
