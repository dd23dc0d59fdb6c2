-- judgment_counts_above: one row per list and judged or pooled document: relevance, rank, and numbers of each kind of document above it and in all.
-- Rows have no doc_id.
-- A negative relevance marks a document that was pooled, but not judged. Documents that were not retrieved are ranked last.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: rows of judged_documents
SELECT
  list_id,
  relevance, -- grade; negative if selected for judging, but never judged
  rank, -- NULL if not retrieved
  SUM(CASE WHEN relevance >= $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id
  ) AS num_relevant, -- relevant documents of the list, retrieved or not
  SUM(CASE WHEN relevance >= 0 AND relevance < $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id
  ) AS num_nonrelevant, -- judged documents of the list not relevant
  SUM(CASE WHEN relevance >= $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) - 1 AS relevant_above, -- other relevant documents ranked above
  SUM(CASE WHEN relevance >= 0 AND relevance < $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS nonrelevant_above, -- judged nonrelevant documents down to this rank
  SUM(CASE WHEN relevance < 0 THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY CASE WHEN rank IS NULL THEN 1 ELSE 0 END, rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS unjudged_above -- pooled documents without judgment to this rank
FROM judged_documents
