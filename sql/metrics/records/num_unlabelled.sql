-- num_unlabelled: number of records without a true cluster, before any policy.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN true_cluster IS NULL THEN 1 ELSE 0 END) AS num_unlabelled
FROM records
GROUP BY group_id
