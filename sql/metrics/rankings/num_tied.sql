-- num_tied: number of documents whose membership in the first k depends on the tie-break.
-- Use when: scores tie at the cut-off, and you want to know how much of a result depends on the tie-break.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(CASE WHEN tie_first_rank <= $k AND tie_last_rank > $k THEN 1 ELSE 0 END) AS num_tied
FROM tie_ranges
GROUP BY list_id
