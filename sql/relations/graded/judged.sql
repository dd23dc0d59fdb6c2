-- graded: one row per document of positive relevance; ideal_rank is its place in the best possible order.
SELECT
  list_id,
  relevance,
  rank,
  docs,
  chance,
  ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY worth DESC) AS ideal_rank
FROM weighed
