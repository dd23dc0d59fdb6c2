-- label_ranges: one row per group: its queries, and those of which all predictions have one label.
-- Grain: group_id
SELECT
  group_id,
  COUNT(*) AS audit_compared_queries,
  SUM(is_one_label) AS audit_one_label_queries -- queries have predictions of one label only, and are left out of {metrics}
FROM label_ranges
GROUP BY group_id
