-- rows of a split: each beside the first row of test of its group.
SELECT
  s.group_id,
  s.split,
  s.happened_at,
  t.first_test
FROM splits AS s
INNER JOIN split_starts AS t ON t.group_id = s.group_id
