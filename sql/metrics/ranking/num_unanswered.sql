-- num_unanswered: number of evaluated queries for which nothing was retrieved.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  CASE WHEN MAX(num_ret) = 0 THEN 1 ELSE 0 END AS num_unanswered
FROM sets
GROUP BY list_id
