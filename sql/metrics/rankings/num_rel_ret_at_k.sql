-- num_rel_ret@k: number of relevant documents at ranks 1 to k.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- aggregate(): default sum: how queries are aggregated.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: never.
-- Source: ranx hits.
-- Tie expectation: linear (in rank_probability)
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN rank_probability ELSE 0 END) AS num_rel_ret_at_k
FROM relevant_documents
GROUP BY list_id
