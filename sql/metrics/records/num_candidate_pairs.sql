-- num_candidate_pairs: number of candidate pairs, each counted once, both records of which are evaluated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(candidate_pairs) AS num_candidate_pairs
FROM blocking_counts
GROUP BY group_id
