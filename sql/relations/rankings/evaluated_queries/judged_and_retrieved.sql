-- evaluated_queries: one row per group and query that has both judgments and retrieved documents.
-- A query remains even if a policy removes all of its rows.
-- Reads: unfiltered.
-- Materialize: the run is scanned for its queries.
-- Grain: group_id, query_id
SELECT retrieved_queries.group_id, retrieved_queries.query_id
FROM (
  -- one row per group and query of the run
  SELECT group_id, query_id
  FROM run
  GROUP BY group_id, query_id
) AS retrieved_queries
JOIN (
  -- one row per group and query of the judgments
  SELECT group_id, query_id
  FROM qrels
  GROUP BY group_id, query_id
) AS judged_queries
  ON judged_queries.group_id = retrieved_queries.group_id AND judged_queries.query_id = retrieved_queries.query_id
