-- RR: reciprocal rank of the first relevant document, whose mean over queries is MRR.
--     RR@k = 1 / rank of the first relevant document, 0 if it is not among the first k
-- Full name: reciprocal rank.
-- Use when: users need one right result, as in navigation, question answering or lookups. It ignores all results below the first hit.
-- Reading: 1 has a relevant document at the top of every list, and 0.5 is the value of one that is always second.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval recip_rank; Voorhees 1999.
SELECT
  list_id,
  MAX(CASE WHEN rank <= $k THEN reciprocal_rank ELSE 0 END) AS rr
FROM first_hits
GROUP BY list_id
