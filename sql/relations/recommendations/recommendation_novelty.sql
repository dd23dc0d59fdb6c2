-- recommendation_novelty: one row per list and rank of a retrieved document: users who had it, all users, and whether it is new to the list's user.
-- Grain: list_id, rank
SELECT
  ranked_documents.list_id, ranked_documents.rank,
  COALESCE(item_popularity.num_users, 0) AS num_users, -- users who had the item
  user_counts.total_users, -- users with a history
  CASE WHEN history.doc_id IS NULL THEN 1 ELSE 0 END AS is_unseen -- 1 if the user of the list had not had the item
FROM ranked_documents
JOIN ranked_lists ON ranked_lists.list_id = ranked_documents.list_id
LEFT JOIN item_popularity
  ON item_popularity.group_id = ranked_lists.group_id AND item_popularity.doc_id = ranked_documents.doc_id
LEFT JOIN user_counts ON user_counts.group_id = ranked_lists.group_id
LEFT JOIN history
  ON history.group_id = ranked_lists.group_id
  AND history.query_id = ranked_lists.query_id
  AND history.doc_id = ranked_documents.doc_id
