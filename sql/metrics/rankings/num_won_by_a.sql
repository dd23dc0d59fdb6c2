-- num_won_by_a: number of sessions in which ranker A had more clicks.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(is_won_by_a) AS num_won_by_a
FROM session_outcomes
GROUP BY group_id
