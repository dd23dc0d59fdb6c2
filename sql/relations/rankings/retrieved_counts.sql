-- retrieved_counts: one row per list: number of its retrieved documents, 0 if it is empty.
-- Grain: list_id
SELECT
  ranked_lists.list_id,
  COALESCE(list_lengths.list_length, 0) AS num_retrieved -- at most the depth
FROM ranked_lists
LEFT JOIN list_lengths ON list_lengths.list_id = ranked_lists.list_id
