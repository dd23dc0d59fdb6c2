-- sized: the entries, with the number of entries of their list and whether it is plain.
SELECT
  e.list_id,
  e.label,
  e.score,
  e.weight,
  x.entries,
  x.is_plain
FROM entries AS e
JOIN extents AS x ON x.list_id = e.list_id
