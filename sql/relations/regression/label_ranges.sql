-- label_ranges: one row per group: 1 if no two of its labels differ, so that none of its predictions can be compared.
-- Grain: group_id
SELECT
  group_id,
  CASE WHEN least_label < greatest_label THEN 0 ELSE 1 END AS is_one_label -- 1 or 0
FROM group_sizes
