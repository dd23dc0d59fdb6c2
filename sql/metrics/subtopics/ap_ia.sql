-- AP_IA: intent-aware average precision, the mean over the subtopics of AP with the documents that are relevant for it.
--     AP_IA@k = mean over t of AP@k(t)
-- AP(t) counts the documents that are relevant for subtopic t. The first relevant document of each subtopic has subtopic_hits = 1, retrieved or not: their number is that of the subtopics.
-- Full name: intent-aware average precision.
-- Use when: queries have several intents and users want many documents for theirs.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Range: 0 to 1.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Agrawal et al. 2009; ndeval MAP-IA.
-- Nonzero: subtopic_size.
SELECT
  list_id,
  SUM(CASE WHEN rank <= $k THEN subtopic_hits / rank / subtopic_size ELSE 0 END)
    / NULLIF(SUM(CASE WHEN subtopic_hits = 1 THEN 1 ELSE 0 END), 0) AS ap_ia
FROM subtopic_ranks
GROUP BY list_id
