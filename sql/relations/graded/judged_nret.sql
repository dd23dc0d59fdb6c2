-- graded: one row per document of positive relevance; the best possible order is as long as the list retrieved.
SELECT
  list_id,
  relevance,
  rank,
  docs,
  chance,
  CASE WHEN place <= list_length THEN place END AS ideal_rank
FROM (
  SELECT
    list_id,
    relevance,
    rank,
    docs,
    chance,
    COALESCE(MAX(num_ret) OVER (PARTITION BY list_id), 1) AS list_length,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY worth DESC) AS place
  FROM weighed
) AS ordered
