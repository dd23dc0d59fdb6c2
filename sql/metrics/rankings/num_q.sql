-- num_q: number of queries evaluated.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: trec_eval num_q.
SELECT
  list_id,
  MAX(1) AS num_q -- of its one row
FROM ranked_lists
GROUP BY list_id
