-- num_stale_gold: number of relevant documents that are not in the catalog, or corpus, so that no list can find them.
-- Use when: documents or chunks got other ids after they were judged, and you want to know how many judgments point to nothing.
-- aggregate(): default sum: how queries are aggregated.
-- Depth: 0 (judgments alone).
-- Interval: none (it describes the data)
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: never.
-- Source: sqlrank.
SELECT
  list_id,
  SUM(1 - is_in_catalog) AS num_stale_gold
FROM gold_documents
GROUP BY list_id
