-- sized: the entries, with the number of entries of their list.
SELECT
  e.list_id,
  e.label,
  e.score,
  e.weight,
  x.entries
FROM entries AS e
JOIN extents AS x ON x.list_id = e.list_id
