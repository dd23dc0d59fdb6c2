-- num_no_rel: number of evaluated queries without relevant documents.
-- aggregate(): default sum: how queries are aggregated.
-- Depth: 0 (judgments alone).
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  CASE WHEN MAX(num_relevant) = 0 THEN 1 ELSE 0 END AS num_no_rel
FROM list_counts
GROUP BY list_id
