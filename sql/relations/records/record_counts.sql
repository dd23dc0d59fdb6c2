-- record_counts: one row per group: its number of evaluated records.
-- Grain: group_id
SELECT
  group_id,
  SUM(n) AS num_records
FROM cluster_overlaps
GROUP BY group_id
