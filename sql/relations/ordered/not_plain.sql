-- ordered: the entries of lists of more than 32 that are not plain, numbered in order of score and in order of label, each
-- from 0; what is tied in one is numbered in the order of the other, so that it is not in opposite order.
SELECT
  s.list_id,
  s.weight,
  s.entries,
  ROW_NUMBER() OVER (PARTITION BY s.list_id ORDER BY s.score, s.label) - 1 AS score_place,
  ROW_NUMBER() OVER (PARTITION BY s.list_id ORDER BY s.label, s.score) - 1 AS label_place
FROM sized AS s
JOIN plain_lists AS l ON l.list_id = s.list_id
WHERE s.entries > 32 AND l.is_plain = 0
