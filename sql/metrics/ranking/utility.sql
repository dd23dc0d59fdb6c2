-- utility: weighted sum of the four cells of the table retrieved or not by relevant or not.
-- $rel_ret: number from -1e90 to 1e90, default 1: worth of a relevant document retrieved.
-- $nonrel_ret: number from -1e90 to 1e90, default -1: worth of another document retrieved.
-- $rel_missed: number from -1e90 to 1e90, default 0: worth of a relevant document not retrieved.
-- $nonrel_missed: number from -1e90 to 1e90, default 0: worth of another document not retrieved.
-- $collection: number from 0 to 1e90, default 0: documents in the collection.
-- Undefined: never.
-- Source: trec_eval utility.
SELECT
  list_id,
  $rel_ret * MAX(num_rel_ret) + $nonrel_ret * (MAX(num_ret) - MAX(num_rel_ret))
    + $rel_missed * (MAX(num_rel) - MAX(num_rel_ret))
    + $nonrel_missed * ($collection + MAX(num_rel_ret) - MAX(num_ret) - MAX(num_rel)) AS utility
FROM sets
GROUP BY list_id
