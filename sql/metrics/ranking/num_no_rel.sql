-- num_no_rel: number of evaluated queries without relevant documents.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  CASE WHEN MAX(num_rel) = 0 THEN 1 ELSE 0 END AS num_no_rel
FROM sets
GROUP BY list_id
