-- query_cutoffs: one row per ranked list, with the cut-off of its query from the queries table.
-- Grain: list_id
SELECT
  l.list_id,
  CAST(a.cutoff AS INT) AS k
FROM ranked_lists AS l
JOIN queries AS a ON a.query_id = l.query_id
