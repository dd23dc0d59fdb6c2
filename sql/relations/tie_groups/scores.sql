-- tie_groups: one row per retrieved document with the ranks that documents of its score cover.
SELECT
  list_id,
  RANK() OVER (PARTITION BY list_id ORDER BY score DESC) AS first_rank,
  COUNT(*) OVER (PARTITION BY list_id ORDER BY score DESC) AS last_rank
FROM retrieved
