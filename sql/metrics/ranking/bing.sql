-- binG: G with gains of 0 and 1: 1 / log2(2 + nonrelevant documents above), averaged over the relevant documents.
-- Undefined: a query without relevant documents.
-- Source: trec_eval binG (experimental, 2008).
-- Never zero: LN(2 + rank - hit).
SELECT
  list_id,
  SUM(CASE WHEN rank IS NULL THEN 0 ELSE LN(2) / LN(2 + rank - hit) END) / NULLIF(SUM(docs), 0) AS bing
FROM relevant
GROUP BY list_id
