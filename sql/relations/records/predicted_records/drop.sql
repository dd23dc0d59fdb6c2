-- predicted_records: one row per group and record that has a predicted cluster: its predicted and true cluster.
-- Grain: group_id, record_id
SELECT
  group_id, record_id, predicted_cluster,
  NULL AS unplaced_record_id, -- every record has a predicted cluster
  true_cluster -- NULL without one
FROM records
WHERE predicted_cluster IS NOT NULL
