-- ideal_ranking: one row per list and judged document of positive relevance: relevance, rank, its probability, doc_count, and ideal rank.
-- doc_count and rank_probability are 1, except under ties=expected, which adds a row per rank of a tie group, of doc_count 0. There is no doc_id.
-- Grain: rows of documents_with_gain
SELECT
  list_id, relevance,
  rank, -- NULL if not retrieved
  doc_count, -- documents that the row counts as
  rank_probability, -- probability that the document has this rank
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY doc_count * gain(relevance) DESC) AS ideal_rank
FROM documents_with_gain
