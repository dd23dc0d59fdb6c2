-- told: one row per prediction with its own score, where each distinct score has a row in segments.
SELECT
  group_id,
  unit_id,
  label,
  score,
  weight,
  score AS lowest
FROM predictions
