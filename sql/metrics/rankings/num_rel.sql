-- num_rel: number of relevant documents judged.
-- aggregate(): default sum: how queries are aggregated.
-- Depth: 0 (judgments alone).
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: trec_eval num_relevant.
SELECT
  list_id,
  MAX(num_relevant) AS num_rel -- of its one row
FROM list_counts
GROUP BY list_id
