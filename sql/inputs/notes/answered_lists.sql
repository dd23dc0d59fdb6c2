-- answered_lists: one row per list with documents.
-- Grain: list_id
SELECT
  list_id,
  MAX(1) AS audit_answered
FROM answered_lists
GROUP BY list_id
