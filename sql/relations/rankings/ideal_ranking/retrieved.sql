-- ideal_ranking: one row per list and document of positive relevance: relevance, rank, and ideal rank among retrieved documents, without doc_id.
-- doc_count and rank_probability are 1, except under ties=expected, where a document has several possible ranks.
-- Depth: all (retrieved documents below the cut-off rise in the ideal ranking).
-- Grain: rows of documents_with_gain
SELECT
  list_id, relevance,
  rank, -- NULL if not retrieved
  doc_count, -- documents that the row counts as
  rank_probability, -- probability that the document has this rank
  CASE WHEN list_length IS NOT NULL THEN ideal_rank END AS ideal_rank -- position by gain; NULL if not retrieved
FROM (
  -- one row per list and judged document of positive relevance
  SELECT
    documents_with_gain.*,
    ROW_NUMBER() OVER (
      PARTITION BY list_id ORDER BY CASE WHEN list_length IS NULL THEN 1 ELSE 0 END, doc_count * gain(relevance) DESC
    ) AS ideal_rank
  FROM documents_with_gain
) AS ranked_gains
