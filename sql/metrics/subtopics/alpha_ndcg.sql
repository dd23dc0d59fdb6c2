-- alpha_nDCG: discounted gain where a document counts less for subtopics of documents above it, over that of the ideal list.
--     gain = sum over its subtopics of (1 - alpha)^(documents of the subtopic above)
-- The default alpha of novelty() is 0.5. The ideal list is greedy: at each rank it has the document that gains most after those above.
-- It is not always the best list, so that values can be above 1.
-- Full name: normalized alpha discounted cumulative gain.
-- Use when: queries are ambiguous or broad, documents are judged by subtopic, and repetition should cost.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: discount at a rank.
-- Range: 0 to inf.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Clarke et al. 2008; ndeval alpha-nDCG.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN gain * discount(rank) ELSE 0 END)
    / NULLIF(SUM(CASE WHEN ideal_rank <= $k THEN ideal_gain * discount(ideal_rank) ELSE 0 END), 0) AS alpha_ndcg
FROM novelty_gains
GROUP BY list_id
