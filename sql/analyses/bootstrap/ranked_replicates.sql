-- ranked_replicates: one row per group and replicate: the place of its metrics in their order.
-- Grain: many per group_id
SELECT
  group_id, value,
  ROW_NUMBER() OVER (PARTITION BY group_id, CASE WHEN value IS NULL THEN 1 ELSE 0 END ORDER BY value) AS value_place
FROM replicate_metrics
WHERE replicate > 0
