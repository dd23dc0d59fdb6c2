-- ideal_ranking: one row per document of positive relevance, with its rank in the ideal ranking of the retrieved documents.
-- Grain: rows of documents_with_gain
SELECT
  list_id,
  relevance,
  rank,
  doc_count,
  rank_probability,
  CASE WHEN list_length IS NOT NULL THEN ideal_rank END AS ideal_rank
FROM (
  SELECT
    list_id,
    relevance,
    rank,
    list_length,
    doc_count,
    rank_probability,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY CASE WHEN list_length IS NULL THEN 1 ELSE 0 END, doc_count * gain(relevance) DESC) AS ideal_rank
  FROM documents_with_gain
) AS ordered
