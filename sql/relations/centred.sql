-- centred: one row per prediction with the weighted means of labels and scores beside it.
-- Units: predictions.
SELECT
  p.group_id,
  p.unit_id,
  p.label,
  p.score,
  p.weight,
  m.mean_label,
  m.mean_score
FROM predictions AS p
JOIN means AS m ON m.group_id = p.group_id
