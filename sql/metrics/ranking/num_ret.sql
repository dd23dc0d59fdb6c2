-- num_ret: number of documents retrieved.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: trec_eval num_ret.
SELECT
  list_id,
  MAX(num_ret) AS num_ret
FROM sets
GROUP BY list_id
