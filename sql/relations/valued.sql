-- valued: one row per document of positive relevance, which is what can have a gain.
SELECT
  list_id,
  relevance,
  rank,
  num_ret,
  docs,
  chance
FROM judged
WHERE relevance > 0
