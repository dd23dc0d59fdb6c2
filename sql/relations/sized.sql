-- sized: the predictions, with the number of predictions of their group.
SELECT
  p.group_id,
  p.label,
  p.score,
  p.weight,
  x.predictions
FROM predictions AS p
JOIN extents AS x ON x.group_id = p.group_id
WHERE p.weight > 0
