-- list_length_changes: one row per list whose query the baseline run answers: its lengths in the run and in the baseline run.
-- Grain: list_id
SELECT
  ranked_lists.list_id,
  baseline_lists.baseline_length, -- documents of the query in the baseline run
  COALESCE(list_lengths.list_length, 0) AS list_length -- documents in the list, 0 if it is empty
FROM (
  -- one row per group and query of the baseline run
  SELECT
    group_id, query_id,
    COUNT(*) AS baseline_length
  FROM baseline
  GROUP BY group_id, query_id
) AS baseline_lists
JOIN ranked_lists
  ON ranked_lists.group_id = baseline_lists.group_id AND ranked_lists.query_id = baseline_lists.query_id
LEFT JOIN list_lengths ON list_lengths.list_id = ranked_lists.list_id
