-- candidate_pairs: one row: rules for candidate pairs; each column counts the rows that break the rule in its comment.
-- Grain: one row
SELECT
  COUNT(*) AS all_rows,
  SUM(CASE WHEN left_id = right_id THEN 1 ELSE 0 END) AS same_id -- left_id and right_id are the same record. Leave such pairs out by a query, with WHERE left_id <> right_id
FROM candidate_pairs
