-- class_sizes: one row per group: its effective numbers of positives and of negatives, for the least variance of areas.
-- Source: Kish 1965.
-- Grain: group_id
SELECT
  group_id,
  SUM(CASE WHEN label = 1 THEN weight ELSE 0 END) * SUM(CASE WHEN label = 1 THEN weight ELSE 0 END)
    / NULLIF(SUM(CASE WHEN label = 1 THEN weight * weight ELSE 0 END), 0) AS positive_size, -- positives of equal weight with as much variance
  SUM(CASE WHEN label = 1 THEN 0 ELSE weight END) * SUM(CASE WHEN label = 1 THEN 0 ELSE weight END)
    / NULLIF(SUM(CASE WHEN label = 1 THEN 0 ELSE weight * weight END), 0) AS negative_size -- negatives of equal weight with as much variance
FROM predictions
GROUP BY group_id
