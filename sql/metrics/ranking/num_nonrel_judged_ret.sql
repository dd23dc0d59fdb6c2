-- num_nonrel_judged_ret: number of documents retrieved that were judged not relevant.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: trec_eval num_nonrel_judged_ret.
SELECT
  list_id,
  MAX(num_nonrel_judged_ret) AS num_nonrel_judged_ret
FROM sets
GROUP BY list_id
