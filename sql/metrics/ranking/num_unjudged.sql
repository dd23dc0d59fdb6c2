-- num_unjudged: number of documents retrieved that have no judgment.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  MAX(num_ret) - MAX(num_judged_ret) AS num_unjudged
FROM sets
GROUP BY list_id
