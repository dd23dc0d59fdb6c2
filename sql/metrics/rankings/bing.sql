-- binG: G with gains of 0 and 1: 1 / log2(2 + nonrelevant documents above), averaged over the relevant documents.
--     binG = 1 / R sum over relevant documents at rank i of 1 / log2(2 + i - hits(i))
-- Use when: each nonrelevant document above a relevant one costs users time, and judgments are binary.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval binG (experimental, 2008).
-- Nonzero: LN(2 + rank - cumulative_hits).
SELECT
  list_id,
  SUM(CASE WHEN rank IS NULL THEN 0 ELSE LN(2) / LN(2 + rank - cumulative_hits) END) / NULLIF(SUM(doc_count), 0) AS bing
FROM relevant_documents
GROUP BY list_id
