-- own_cutoffs: one row per list: the cut-off of its query, which is that of metrics@cutoff.
SELECT
  l.list_id,
  CAST(a.cutoff AS INT) AS k
FROM lists AS l
JOIN queries AS a ON a.query_id = l.query_id
