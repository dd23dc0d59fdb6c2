-- valued: one row per document of positive relevance with its worth, which the best possible order is sorted by.
SELECT
  list_id,
  relevance,
  rank,
  num_ret,
  docs,
  chance,
  docs * gain(relevance) AS worth
FROM judged
WHERE relevance > 0
