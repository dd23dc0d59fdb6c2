-- num_train: number of rows whose split is train.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN split = 'train' THEN 1 ELSE 0 END) AS num_train
FROM splits
GROUP BY group_id
