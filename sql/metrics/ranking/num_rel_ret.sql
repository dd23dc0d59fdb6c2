-- num_rel_ret: number of relevant documents retrieved.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: trec_eval num_rel_ret.
SELECT
  list_id,
  MAX(num_rel_ret) AS num_rel_ret
FROM sets
GROUP BY list_id
