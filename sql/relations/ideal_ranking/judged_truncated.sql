-- ideal_ranking: one row per document of positive relevance, with its rank in the ideal ranking, which is cut at the length of the retrieved list.
-- Grain: rows of documents_with_gain
SELECT
  list_id,
  relevance,
  rank,
  doc_count,
  rank_probability,
  CASE WHEN ideal_rank <= list_length THEN ideal_rank END AS ideal_rank
FROM (
  SELECT
    list_id,
    relevance,
    rank,
    doc_count,
    rank_probability,
    COALESCE(MAX(list_length) OVER (PARTITION BY list_id), 1) AS list_length,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY doc_count * gain(relevance) DESC) AS ideal_rank
  FROM documents_with_gain
) AS ordered
