-- query_cutoffs: one row per list whose query is in the queries table: the cut-off of the query.
-- Grain: list_id
SELECT
  ranked_lists.list_id,
  CAST(queries.cutoff AS INT) AS k -- cut-off of the query, from the queries table
FROM ranked_lists
JOIN queries ON queries.query_id = ranked_lists.query_id
