-- list_counts: one row per ranked list, with the numbers of documents that are retrieved, judged, relevant, and both.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Tie expectation: linear (in rank_probability)
-- Grain: list_id
SELECT
  l.list_id,
  COALESCE(a.list_length, 0) AS num_retrieved,
  COALESCE(j.num_judged_retrieved, 0) AS num_judged_retrieved,
  COALESCE(j.num_relevant, 0) AS num_relevant,
  COALESCE(j.num_relevant_retrieved, 0) AS num_relevant_retrieved,
  COALESCE(j.num_nonrelevant_retrieved, 0) AS num_nonrelevant_retrieved
FROM ranked_lists AS l
LEFT JOIN list_lengths AS a ON a.list_id = l.list_id
LEFT JOIN (
  SELECT
    list_id,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= 0 THEN rank_probability ELSE 0 END) AS num_judged_retrieved,
    SUM(CASE WHEN relevance >= $rel THEN doc_count ELSE 0 END) AS num_relevant,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= $rel THEN rank_probability ELSE 0 END) AS num_relevant_retrieved,
    SUM(CASE WHEN rank IS NOT NULL AND relevance >= 0 AND relevance < $rel THEN rank_probability ELSE 0 END) AS num_nonrelevant_retrieved
  FROM judged_documents
  GROUP BY list_id
) AS j ON j.list_id = l.list_id
