-- ideal_ranking: one row per list and document of positive relevance: relevance, rank, and ideal rank among judged documents, without doc_id.
-- doc_count and rank_probability are 1, except under ties=expected, where a document has several possible ranks.
-- Grain: rows of documents_with_gain
SELECT
  list_id,
  relevance,
  rank, -- NULL if not retrieved
  doc_count, -- documents that the row counts as
  rank_probability, -- probability that the document has this rank
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY doc_count * gain(relevance) DESC) AS ideal_rank
FROM documents_with_gain
