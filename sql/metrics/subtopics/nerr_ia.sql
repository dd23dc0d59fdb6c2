-- nERR_IA: intent-aware expected reciprocal rank, over that of the ideal list.
--     nERR_IA@k = sum over i <= k of gain(i) * discount(i) / sum over i <= k of ideal gain(i) * discount(i)
--     gain(i) = sum over the subtopics of document i of (1 - alpha)^(documents of the subtopic above)
-- The ideal list is greedy, with the document that gains most after those above at each rank.
-- Full name: normalized intent-aware expected reciprocal rank.
-- Use when: queries have several intents of different difficulty, and users stop at the first document that satisfies theirs.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default inverse: discount at a rank.
-- Range: 0 to inf.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Chapelle et al. 2009; ndeval nERR-IA.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN gain * discount(rank) ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= $k THEN ideal_gain * discount(ideal_rank) ELSE 0 END), 0) AS nerr_ia
FROM novelty_gains
GROUP BY list_id
