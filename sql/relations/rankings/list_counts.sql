-- list_counts: one row per list: numbers of its retrieved documents, of those judged, relevant and nonrelevant, and of its relevant documents.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Tie expectation: linear (in rank_probability)
-- Grain: list_id
SELECT
  retrieved_counts.list_id,
  retrieved_counts.num_retrieved, -- at most the depth
  COALESCE(judged_counts.num_judged_retrieved, 0) AS num_judged_retrieved, -- retrieved documents that have a judgment
  COALESCE(judged_counts.num_relevant, 0) AS num_relevant, -- relevant documents, retrieved or not
  COALESCE(judged_counts.num_relevant_retrieved, 0) AS num_relevant_retrieved,
  COALESCE(judged_counts.num_nonrelevant_retrieved, 0) AS num_nonrelevant_retrieved -- retrieved and judged as not relevant
FROM retrieved_counts
LEFT JOIN (
  -- one row per list with judgments
  SELECT
    list_id,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= 0 THEN rank_probability ELSE 0 END) AS num_judged_retrieved,
    SUM(CASE WHEN relevance >= $rel THEN doc_count ELSE 0 END) AS num_relevant,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= $rel THEN rank_probability ELSE 0 END) AS num_relevant_retrieved,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= 0 AND relevance < $rel THEN rank_probability ELSE 0 END) AS num_nonrelevant_retrieved
  FROM judged_documents
  GROUP BY list_id
) AS judged_counts ON judged_counts.list_id = retrieved_counts.list_id
