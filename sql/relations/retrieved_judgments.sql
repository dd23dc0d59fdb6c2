-- retrieved_judgments: one row per retrieved document with a judgment, with its score and its number of rows in the list.
-- Grain: list_id, doc_id
SELECT
  j.list_id,
  j.doc_id,
  r.score,
  COUNT(*) AS num_copies
FROM run AS r
JOIN ranked_lists AS l ON l.group_id = r.group_id AND l.query_id = r.query_id
JOIN judgments AS j ON j.list_id = l.list_id AND j.doc_id = r.doc_id
GROUP BY j.list_id, j.doc_id, r.score
