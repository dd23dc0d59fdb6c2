-- SetF: weighted harmonic mean of precision and recall of the retrieved documents as a set.
--     SetF = (1 + beta^2) hits / (beta^2 relevant + retrieved)
-- The parameter of trec_eval is beta^2.
-- Full name: F measure of a set.
-- Use when: the result is a set without an order and precision and recall matter both.
-- $beta: number from 0 to 10000, default 1: how many times as much recall weighs as precision.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval set_F.
SELECT
  list_id,
  CASE
    WHEN MAX(num_relevant) > 0
      THEN COALESCE(f_measure($beta, MAX(num_relevant_retrieved), MAX(num_relevant), MAX(num_retrieved)), 0)
  END AS set_f
FROM list_counts
GROUP BY list_id
