-- GoldInCorpus: share of the relevant documents of a query that are in the catalog, or corpus: the highest recall that any list can reach.
--     GoldInCorpus = relevant documents that the catalog has / relevant documents
-- Use when: documents or chunks got other ids after they were judged, and you want to know how much of your judgments is left.
-- if_undefined(): default skip: value of a list for which it is undefined.
-- Depth: 0 (judgments alone).
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: sqlrank.
SELECT
  list_id,
  AVG(is_in_catalog) AS gold_in_corpus
FROM gold_documents
GROUP BY list_id
