-- num_unplaced: number of records without a predicted cluster, before any policy.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN predicted_cluster IS NULL THEN 1 ELSE 0 END) AS num_unplaced
FROM records
GROUP BY group_id
