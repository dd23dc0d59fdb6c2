-- list_length_changes: one row per ranked list that the baseline has, with its length in the baseline and in the run.
-- Grain: list_id
SELECT
  l.list_id,
  b.baseline_length,
  COALESCE(a.list_length, 0) AS list_length
FROM (
  SELECT
    group_id,
    query_id,
    COUNT(*) AS baseline_length
  FROM baseline
  GROUP BY group_id, query_id
) AS b
JOIN ranked_lists AS l ON l.group_id = b.group_id AND l.query_id = b.query_id
LEFT JOIN list_lengths AS a ON a.list_id = l.list_id
