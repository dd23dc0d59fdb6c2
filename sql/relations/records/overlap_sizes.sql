-- overlap_sizes: one row per group and integer from 1 to the size of its largest predicted cluster.
-- Grain: group_id, overlap
SELECT group_id, overlap
FROM (
  -- one row per group and record
  SELECT
    group_id,
    ROW_NUMBER() OVER (PARTITION BY group_id, predicted_cluster, unplaced_record_id ORDER BY record_id) AS overlap
  FROM evaluated_records
) AS record_numbers
GROUP BY group_id, overlap
