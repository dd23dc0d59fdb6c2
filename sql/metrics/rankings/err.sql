-- ERR: expected reciprocal rank of the document at which a reader stops.
--     ERR@k = sum over i <= k of 1/i * stop_probability(r_i) * product over j < i of (1 - stop_probability(r_j))
-- Full name: expected reciprocal rank.
-- Use when: users stop at the first document that satisfies them, and grades say how likely that is.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: Chapelle et al. 2009; gdeval.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN reach_probability * stop_probability / rank ELSE 0 END) AS err
FROM cascade_probabilities
GROUP BY list_id
