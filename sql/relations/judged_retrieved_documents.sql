-- judged_retrieved_documents: one row per retrieved document with a judgment, and one without a rank per non-empty ranked list.
-- Grain: list_id, rank
SELECT
  a.list_id,
  CAST(NULL AS BIGINT) AS rank,
  a.list_length
FROM list_lengths AS a
UNION ALL
SELECT
  j.list_id,
  j.rank,
  j.list_length
FROM judged_documents AS j
WHERE j.rank IS NOT NULL AND j.relevance >= 0
