-- several_units: one row per group and item with ratings of several sampling units.
-- Grain: group_id, item_id
SELECT
  group_id, item_id,
  COUNT(DISTINCT unit_id) AS units -- an item belongs to one unit. Name a column that is the same for all ratings of an item in unit
FROM ratings
GROUP BY group_id, item_id
HAVING COUNT(DISTINCT unit_id) > 1
