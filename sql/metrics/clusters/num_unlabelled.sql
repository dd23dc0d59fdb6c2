-- num_unlabelled: number of records without a true cluster, before any policy.
-- Interval: none (it describes the data)
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN true_cluster IS NULL THEN 1 ELSE 0 END) AS num_unlabelled
FROM records
GROUP BY group_id
