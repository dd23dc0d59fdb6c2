-- alpha_DCG: discounted gain where a document counts less for subtopics of documents above it, over its greatest value.
--     alpha_DCG@k = sum over i <= k , t of (1 - alpha)^(above(t, i)) discount(i) / the same sum for ideal documents
-- The sum is over the subtopics t of document i, and above(t, i) documents before it have the subtopic.
-- Ideal documents are k that are relevant for every subtopic.
-- Full name: alpha discounted cumulative gain.
-- Use when: documents are judged by subtopic and repeated subtopics bore users. Prefer alpha_nDCG across queries.
-- $k: integer from 1 to 10000: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: discount at a rank.
-- Range: 0 to 1.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Clarke et al. 2008; ndeval alpha-DCG, which divides by nothing at k = 1.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN subtopic_gain ELSE 0 END)
    / NULLIF(MAX(greatest_sum) * SUM(CASE WHEN subtopic_hits = 1 THEN 1 ELSE 0 END), 0) AS alpha_dcg
FROM subtopic_gains
GROUP BY list_id
