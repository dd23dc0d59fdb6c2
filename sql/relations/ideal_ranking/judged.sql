-- ideal_ranking: one row per document of positive relevance, with its rank in the ideal ranking, in descending order of gain.
-- Grain: rows of documents_with_gain
SELECT
  list_id,
  relevance,
  rank,
  doc_count,
  rank_probability,
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY doc_count * gain(relevance) DESC) AS ideal_rank
FROM documents_with_gain
