-- nNRBP: novelty- and rank-biased precision, over that of the ideal list.
-- The ideal list is greedy, with the document that gains most after those above at each rank.
-- Full name: normalized novelty- and rank-biased precision.
-- Use when: queries have several intents of different difficulty, and users lose patience document by document.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- $beta: number above 0 to 1, default 0.5: patience, the probability of going on to the next document.
-- Range: 0 to inf.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Clarke, Kolla & Vechtomova 2009; ndeval nNRBP.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN gain * exp_or_zero((rank - 1) * LN($beta)) ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= $k THEN ideal_gain * exp_or_zero((ideal_rank - 1) * LN($beta)) ELSE 0 END), 0) AS nnrbp
FROM novelty_gains
GROUP BY list_id
