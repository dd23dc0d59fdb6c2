-- ideal_ranking: one row per list and document of positive relevance: relevance, rank, and ideal rank, NULL beyond list length, without doc_id.
-- doc_count and rank_probability are 1, except under ties=expected, where a document has several possible ranks.
-- Depth: all (a list without a relevant document within the cut-off would be shorter).
-- Grain: rows of documents_with_gain
SELECT
  list_id, relevance,
  rank, -- NULL if not retrieved
  doc_count, -- documents that the row counts as
  rank_probability, -- probability that the document has this rank
  CASE WHEN ideal_rank <= list_length THEN ideal_rank END AS ideal_rank -- position by gain; NULL beyond the length of the list
FROM (
  -- one row per list and judged document of positive relevance
  SELECT
    documents_with_gain.*,
    COALESCE(MAX(list_length) OVER (PARTITION BY list_id), 1) AS list_length,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY doc_count * gain(relevance) DESC) AS ideal_rank
  FROM documents_with_gain
) AS ranked_gains
