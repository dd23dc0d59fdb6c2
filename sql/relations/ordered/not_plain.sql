-- ordered: the entries of lists that are not plain, numbered in order of score and in order of label, each from 0; what is
-- tied in one is numbered in the order of the other, so that it is not in opposite order.
SELECT
  e.group_id,
  e.weight,
  COUNT(*) OVER (PARTITION BY e.group_id) AS entries,
  ROW_NUMBER() OVER (PARTITION BY e.group_id ORDER BY e.score, e.label) - 1 AS score_place,
  ROW_NUMBER() OVER (PARTITION BY e.group_id ORDER BY e.label, e.score) - 1 AS label_place
FROM entries AS e
JOIN plain_lists AS l ON l.group_id = e.group_id
WHERE l.is_plain = 0
