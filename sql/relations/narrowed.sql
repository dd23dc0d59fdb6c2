-- narrowed: one row per list for which the baseline has documents: how many, and how many the list has.
SELECT
  l.list_id,
  b.docs_before,
  COALESCE(a.num_ret, 0) AS num_ret
FROM (
  SELECT
    group_id,
    query_id,
    COUNT(*) AS docs_before
  FROM baseline
  GROUP BY group_id, query_id
) AS b
JOIN lists AS l ON l.group_id = b.group_id AND l.query_id = b.query_id
LEFT JOIN answers AS a ON a.list_id = l.list_id
