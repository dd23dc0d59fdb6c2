-- judgment_counts_above: one row per judged document, with the numbers of relevant, nonrelevant and unjudged pooled documents ranked above it.
-- A negative relevance marks a document that was pooled, but not judged. Documents that were not retrieved are ranked last.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Grain: rows of judged_documents
SELECT
  list_id,
  relevance,
  rank,
  SUM(CASE WHEN relevance >= $rel THEN 1 ELSE 0 END) OVER (PARTITION BY list_id) AS num_relevant,
  SUM(CASE WHEN relevance >= 0 AND relevance < $rel THEN 1 ELSE 0 END) OVER (PARTITION BY list_id) AS num_nonrelevant,
  SUM(CASE WHEN relevance >= $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY sort_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) - 1 AS relevant_above,
  SUM(CASE WHEN relevance >= 0 AND relevance < $rel THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY sort_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS nonrelevant_above,
  SUM(CASE WHEN relevance < 0 THEN 1 ELSE 0 END) OVER (
    PARTITION BY list_id ORDER BY sort_rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS unjudged_above
FROM (
  SELECT
    list_id,
    relevance,
    rank,
    CASE WHEN rank IS NULL THEN 2147483647 ELSE rank END AS sort_rank
  FROM judged_documents
) AS placed
