-- num_ret: number of documents retrieved.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: trec_eval num_retrieved.
SELECT
  list_id,
  MAX(num_retrieved) AS num_ret -- of its one row
FROM list_counts
GROUP BY list_id
