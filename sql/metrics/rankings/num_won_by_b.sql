-- num_won_by_b: number of sessions in which ranker B had more clicks.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(is_won_by_b) AS num_won_by_b
FROM session_outcomes
GROUP BY group_id
