-- num_nonrel_judged_ret: number of documents retrieved that were judged not relevant.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: trec_eval num_nonrelevant_retrieved.
SELECT
  list_id,
  MAX(num_nonrelevant_retrieved) AS num_nonrel_judged_ret -- of its one row
FROM list_counts
GROUP BY list_id
