-- num_unlisted: number of distinct documents among the first k of all lists that are not in the catalog.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(1 - is_in_catalog) AS num_unlisted
FROM recommended_items
GROUP BY group_id
