-- judgments: one row per judged document of an evaluated query, retrieved or not.
-- Grain: list_id, doc_id
SELECT
  l.list_id,
  j.doc_id,
  j.relevance
FROM qrels AS j
JOIN ranked_lists AS l ON l.group_id = j.group_id AND l.query_id = j.query_id
