-- Success: 1 if a relevant document is among the first k, else 0; also called hit rate.
--     Success@k = max over i <= k of rel_i
-- Full name: hit rate.
-- Use when: one relevant document among the first k is enough. It ignores how many more there are, and their order.
-- Reading: 0.9 means that 9 of 10 queries have a relevant document among the first k, so it rises with k.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval success.
SELECT
  list_id,
  MAX(CASE WHEN rank <= $k THEN hit_probability ELSE 0 END) AS success
FROM first_hits
GROUP BY list_id
