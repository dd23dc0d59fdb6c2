-- num_q: number of queries evaluated.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: trec_eval num_q.
SELECT
  list_id,
  MAX(1) AS num_q
FROM lists
GROUP BY list_id
