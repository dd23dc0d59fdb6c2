-- ERR_IA: intent-aware expected reciprocal rank, over its greatest value for this number of subtopics.
--     ERR_IA@k = sum over i <= k , t of (1 - alpha)^(above(t, i)) discount(i) / the same sum for ideal documents
-- The sum is over the subtopics t of document i, and above(t, i) documents before it have the subtopic.
-- Ideal documents are k that are relevant for every subtopic.
-- Full name: intent-aware expected reciprocal rank.
-- Use when: queries have several intents, and users stop at the first document that satisfies theirs.
-- $k: integer from 1 to 10000: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default inverse: discount at a rank.
-- Range: 0 to 1.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Chapelle et al. 2009; ndeval ERR-IA, which divides by nothing at k = 1.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN subtopic_gain ELSE 0 END)
    / NULLIF(MAX(greatest_sum) * SUM(CASE WHEN subtopic_hits = 1 THEN 1 ELSE 0 END), 0) AS err_ia
FROM subtopic_gains
GROUP BY list_id
