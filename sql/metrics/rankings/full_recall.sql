-- FullRecall: 1 if all relevant documents are among the first k, else 0.
--     FullRecall@k = min over the relevant documents d of [rank(d) <= k]
-- Use when: an answer is only right with all of its evidence, as in questions that need several documents.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: Asai, Hashimoto, Hajishirzi, Socher & Xiong 2020, paragraph exact match.
SELECT
  list_id,
  MIN(CASE WHEN rank <= $k THEN 1 ELSE 0 END) AS full_recall
FROM relevant_documents
GROUP BY list_id
