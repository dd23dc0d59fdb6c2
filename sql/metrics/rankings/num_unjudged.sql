-- num_unjudged: number of documents retrieved that have no judgment.
-- Use when: you need to know how many retrieved documents have no judgment, before you trust other metrics.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  MAX(num_retrieved) - MAX(num_judged_retrieved) AS num_unjudged -- of its one row
FROM list_counts
GROUP BY list_id
