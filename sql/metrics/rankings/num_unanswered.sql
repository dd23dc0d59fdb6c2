-- num_unanswered: number of evaluated queries for which nothing was retrieved.
-- aggregate(): default sum: how queries are aggregated.
-- Depth: 1.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  CASE WHEN MAX(num_retrieved) = 0 THEN 1 ELSE 0 END AS num_unanswered
FROM retrieved_counts
GROUP BY list_id
