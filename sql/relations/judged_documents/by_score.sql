-- judged_documents: one row per list and judged document, retrieved or not.
-- The scores of each list are sorted without their documents, and the rank of a judged document is found by its score. Ties are broken by
-- doc_id, greatest first.
-- $depth: integer from 1, default all: how many documents of a list are read.
-- Engines: duckdb
-- Grain: rows of judgments
SELECT
  list_id,
  relevance,
  CASE WHEN document_rank <= $depth THEN document_rank END AS rank, -- NULL if not retrieved
  CASE
    WHEN document_rank <= $depth THEN CASE WHEN list_length > $depth THEN $depth ELSE list_length END
  END AS list_length, -- documents in the list; NULL if not retrieved
  CAST(1 AS DOUBLE) AS doc_count, -- documents that the row counts as
  CAST(1 AS DOUBLE) AS rank_probability -- probability that the document has this rank
FROM (
  -- one row per list and judged document
  SELECT
    judgments.list_id,
    judgments.relevance,
    score_ranks.tie_first_rank + COALESCE(tie_breaks.tied_docs_above, 0) AS document_rank,
    score_ranks.list_length
  FROM judgments
  LEFT JOIN (
    -- one row per list and retrieved document
    SELECT
      ranked_lists.list_id,
      run.doc_id,
      run.score
    FROM run
    JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
  ) AS document_scores
    ON document_scores.list_id = judgments.list_id AND document_scores.doc_id = judgments.doc_id
  LEFT JOIN score_ranks
    ON score_ranks.list_id = document_scores.list_id AND score_ranks.score IS NOT DISTINCT FROM document_scores.score
  LEFT JOIN tie_breaks
    ON tie_breaks.list_id = document_scores.list_id AND tie_breaks.doc_id = document_scores.doc_id
) AS positions
