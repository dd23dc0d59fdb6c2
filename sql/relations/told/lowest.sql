-- told: one row per prediction with the lowest score of a positive that is not below its own, NULL if there is none.
-- Per score: in the row of the input, where it has several.
SELECT
  group_id,
  unit_id,
  label,
  score,
  weight,
  MIN(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY group_id ORDER BY score DESC) AS lowest
FROM predictions
