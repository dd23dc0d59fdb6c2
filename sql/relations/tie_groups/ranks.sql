-- tie_groups: one row per retrieved document with the ranks that documents of the same given rank cover.
SELECT
  list_id,
  RANK() OVER (PARTITION BY list_id ORDER BY given_rank) AS first_rank,
  COUNT(*) OVER (PARTITION BY list_id ORDER BY given_rank) AS last_rank
FROM retrieved
