-- P_IA: intent-aware precision, the mean over the subtopics of the share of the first k documents that are relevant for it.
--     P_IA@k = mean over t of P@k(t)
-- P(t) counts the documents that are relevant for subtopic t. The first relevant document of each subtopic has subtopic_hits = 1, retrieved or not: their number is that of the subtopics.
-- Full name: intent-aware precision.
-- Use when: queries have several intents and users look at all of the first k documents.
-- $k: integer from 1: cut-off, the number of top-ranked documents of a list that count.
-- Range: 0 to 1.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Agrawal et al. 2009; ndeval P-IA.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN 1 ELSE 0 END) / $k
    / NULLIF(SUM(CASE WHEN subtopic_hits = 1 THEN 1 ELSE 0 END), 0) AS p_ia
FROM subtopic_ranks
GROUP BY list_id
