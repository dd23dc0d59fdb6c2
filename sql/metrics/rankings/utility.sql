-- utility: weighted sum of the four cells of the table retrieved or not by relevant or not.
-- Use when: you can name a benefit or cost of hits, false hits, misses and correct rejections.
-- $rel_ret: number from -1e90 to 1e90, default 1: value of a relevant document retrieved.
-- $nonrel_ret: number from -1e90 to 1e90, default -1: value of another document retrieved.
-- $rel_missed: number from -1e90 to 1e90, default 0: value of a relevant document not retrieved.
-- $nonrel_missed: number from -1e90 to 1e90, default 0: value of another document not retrieved.
-- $collection: number from 0 to 1e90, default 0: documents in the collection.
-- Range: -inf to inf.
-- Undefined: never.
-- Source: trec_eval utility.
SELECT
  list_id,
  $rel_ret * MAX(num_relevant_retrieved) + $nonrel_ret * (MAX(num_retrieved) - MAX(num_relevant_retrieved))
    + $rel_missed * (MAX(num_relevant) - MAX(num_relevant_retrieved))
    + $nonrel_missed * ($collection + MAX(num_relevant_retrieved) - MAX(num_retrieved) - MAX(num_relevant)) AS utility
FROM list_counts
GROUP BY list_id
