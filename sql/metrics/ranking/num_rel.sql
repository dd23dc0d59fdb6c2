-- num_rel: number of relevant documents judged.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: trec_eval num_rel.
SELECT
  list_id,
  MAX(num_rel) AS num_rel
FROM sets
GROUP BY list_id
