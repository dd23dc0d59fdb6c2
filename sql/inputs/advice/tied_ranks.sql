-- tied_ranks: one row: lists of a run, and those in which equal scores have ranks in another order than that of their documents, greatest first.
-- Grain: one row
SELECT
  COUNT(*) AS lists,
  SUM(is_other) AS other_lists
FROM (
  -- one row per query
  SELECT
    query_id,
    MAX(CASE WHEN place_by_rank <> place_by_document THEN 1 ELSE 0 END) AS is_other
  FROM (
    -- one row per retrieved document
    SELECT
      query_id,
      ROW_NUMBER() OVER (PARTITION BY query_id, score ORDER BY rank) AS place_by_rank,
      ROW_NUMBER() OVER (PARTITION BY query_id, score ORDER BY doc_id DESC) AS place_by_document
    FROM run
  ) AS tied_documents
  GROUP BY query_id
) AS lists
