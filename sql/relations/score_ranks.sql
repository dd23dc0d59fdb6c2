-- score_ranks: one row per list and distinct score: the first rank of its documents.
-- Engines: duckdb
-- Grain: list_id, score
SELECT
  list_id,
  score,
  tie_first_rank, -- first rank of the documents of this score
  CASE WHEN next_score IS NOT DISTINCT FROM score THEN 1 ELSE 0 END AS is_tied, -- 1 if several documents have the score
  list_length -- documents in the list, however deep
FROM (
  -- one row per list and retrieved document, without the document
  SELECT
    list_id,
    score,
    RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS tie_first_rank,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY score DESC) AS document_rank,
    LEAD(score) OVER (PARTITION BY list_id ORDER BY score DESC) AS next_score,
    COUNT(*) OVER (PARTITION BY list_id) AS list_length
  FROM (
    -- one row per list and retrieved document, without the document
    SELECT
      ranked_lists.list_id,
      run.score
    FROM run
    JOIN ranked_lists ON ranked_lists.group_id = run.group_id AND ranked_lists.query_id = run.query_id
  ) AS list_scores
) AS numbered_scores
WHERE document_rank = tie_first_rank
