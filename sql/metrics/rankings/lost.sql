-- Lost: number of relevant documents among the first k of the baseline, the stage before, that are not among the first k of the list.
-- Use when: a stage filters or reranks, and you want to know how many relevant documents it loses.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it grows with the number of queries)
-- Range: 0 to inf.
-- Undefined: never.
-- Reads: previous run as baseline.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(CASE WHEN baseline_rank <= $k AND (rank IS NULL OR rank > $k) THEN 1 ELSE 0 END) AS lost
FROM relevant_baseline_documents
GROUP BY list_id
