-- tie_breaks: one row per list and retrieved document whose score is tied: its position among the tied documents.
-- Engines: duckdb
-- Grain: list_id, doc_id
SELECT
  list_id,
  doc_id,
  RANK() OVER (PARTITION BY list_id, score ORDER BY doc_id DESC) - 1 AS tied_docs_above -- tied documents of greater doc_id
FROM (
  -- one row per list and retrieved document of a tied score
  SELECT
    ranked_lists.list_id,
    run.doc_id,
    run.score
  FROM run
  JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
  JOIN score_ranks
    ON score_ranks.list_id = ranked_lists.list_id AND score_ranks.score IS NOT DISTINCT FROM run.score
  WHERE score_ranks.is_tied = 1
) AS tied_documents
