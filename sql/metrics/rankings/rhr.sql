-- RHR: reciprocal hit rank, the sum of 1 / rank over the relevant documents among the first k; its mean is ARHR.
--     RHR@k = sum over i <= k of rel_i / i
-- Full name: reciprocal hit rank.
-- Use when: several items are relevant to a user and each counts by its rank. For the first hit alone, use RR.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- normalization(): default none: whether to divide by the best possible sum.
-- Range: 0 to inf.
-- Undefined: a query without relevant documents.
-- Source: Deshpande & Karypis 2004; Apache Hivemall arhr.
-- Tie expectation: linear (in rank_probability)
-- Nonzero: cumulative_hits.
SELECT
  list_id,
  normalization(
    SUM(CASE WHEN rank <= $k THEN rank_probability / rank ELSE 0 END),
    SUM(CASE WHEN cumulative_hits <= $k THEN doc_count / cumulative_hits ELSE 0 END)
  ) AS rhr
FROM relevant_documents
GROUP BY list_id
