-- StRecall: subtopic recall, the share of the subtopics that a document among the first k is relevant for.
--     StRecall@k = subtopics with a relevant document among the first k / subtopics
-- The first relevant document of each subtopic has subtopic_hits = 1, retrieved or not: their number is that of the subtopics.
-- With claims, facts or nuggets of an answer as subtopics, it is nugget recall.
-- Full name: subtopic recall.
-- Use when: each subtopic or fact should be found at least once among the first k documents.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Range: 0 to 1.
-- Undefined: a query without a document that is relevant for a subtopic.
-- Source: Zhai, Cohen & Lafferty 2003; ndeval strec.
SELECT
  list_id,
  SUM(CASE WHEN subtopic_hits = 1 AND rank <= $k THEN 1 ELSE 0 END)
    / NULLIF(SUM(CASE WHEN subtopic_hits = 1 THEN 1 ELSE 0 END), 0) AS st_recall
FROM subtopic_ranks
GROUP BY list_id
