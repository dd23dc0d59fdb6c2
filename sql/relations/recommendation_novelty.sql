-- recommendation_novelty: one row per retrieved document, with its number of users in the history, and whether it is new to this user.
-- Grain: list_id, rank
SELECT
  r.list_id,
  r.rank,
  COALESCE(p.num_users, 0) AS num_users,
  n.total_users,
  CASE WHEN h.doc_id IS NULL THEN 1 ELSE 0 END AS is_unseen
FROM ranked_documents AS r
JOIN ranked_lists AS l ON l.list_id = r.list_id
LEFT JOIN item_popularity AS p ON p.group_id = l.group_id AND p.doc_id = r.doc_id
LEFT JOIN user_counts AS n ON n.group_id = l.group_id
LEFT JOIN history AS h ON h.group_id = l.group_id AND h.query_id = l.query_id AND h.doc_id = r.doc_id
