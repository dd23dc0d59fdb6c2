-- centred_ranks: the entries with their average ranks by label and by score, less the mean rank of the list: half of the
-- weight up to an entry less that from it on.
SELECT
  list_id,
  label,
  score,
  weight,
  cubes,
  (SUM(weight) OVER (PARTITION BY list_id ORDER BY label) - SUM(weight) OVER (PARTITION BY list_id ORDER BY label DESC)) / 2 AS label_rank,
  (SUM(weight) OVER (PARTITION BY list_id ORDER BY score) - SUM(weight) OVER (PARTITION BY list_id ORDER BY score DESC)) / 2 AS score_rank
FROM entries
