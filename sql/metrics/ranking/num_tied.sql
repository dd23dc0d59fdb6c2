-- num_tied: number of documents whose place in or out of the first k is decided by the tie-break.
-- $k: integer from 1: cut-off, the documents of a list that are looked at.
-- aggregate(): default sum: how the queries are put together.
-- No interval: it describes the data.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(CASE WHEN first_rank <= $k AND last_rank > $k THEN 1 ELSE 0 END) AS num_tied
FROM tie_groups
GROUP BY list_id
