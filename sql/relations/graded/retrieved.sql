-- graded: one row per document of positive relevance; the best possible order is one of the retrieved documents only.
SELECT
  list_id,
  relevance,
  rank,
  docs,
  chance,
  CASE WHEN num_ret IS NOT NULL THEN place END AS ideal_rank
FROM (
  SELECT
    list_id,
    relevance,
    rank,
    num_ret,
    docs,
    chance,
    ROW_NUMBER() OVER (PARTITION BY list_id ORDER BY CASE WHEN num_ret IS NULL THEN 1 ELSE 0 END, worth DESC) AS place
  FROM weighed
) AS ordered
