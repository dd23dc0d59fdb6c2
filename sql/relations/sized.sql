-- sized: the predictions, with the number of predictions of their list.
SELECT
  p.list_id,
  p.label,
  p.score,
  p.weight,
  x.predictions
FROM predictions AS p
JOIN extents AS x ON x.list_id = p.list_id
WHERE p.weight > 0
