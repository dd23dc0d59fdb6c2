-- smaller_class: one row per group: its numbers of positives and of negatives.
-- Grain: group_id
SELECT
  group_id,
  SUM(CASE WHEN label = 1 AND weight > 0 THEN 1 ELSE 0 END) AS audit_positives, -- rows of weight 0 do not count
  SUM(CASE WHEN label = 0 AND weight > 0 THEN 1 ELSE 0 END) AS audit_negatives -- rows of weight 0 do not count
FROM predictions
GROUP BY group_id
