-- F: weighted harmonic mean of precision and recall at k.
--     F@k = (1 + beta^2) hits / (beta^2 relevant documents + k)
-- Full name: F measure.
-- Use when: recall and precision of the first k documents matter both and you want one number.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- $beta: number from 0 to 10000, default 1: how many times as much recall weighs as precision.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: van Rijsbergen 1979.
-- Tie expectation: linear (in rank_probability)
-- Nonzero: $beta * $beta * SUM(doc_count) + $k.
SELECT
  list_id,
  (1 + $beta * $beta) * SUM(CASE WHEN rank <= $k THEN rank_probability ELSE 0 END) / ($beta * $beta * SUM(doc_count) + $k) AS f
FROM relevant_documents
GROUP BY list_id
