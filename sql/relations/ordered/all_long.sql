-- ordered: the entries of a list, numbered in order of score and in order of label, each from 0; what is tied in one is
-- numbered in the order of the other, so that it is not in opposite order.
SELECT
  group_id,
  weight,
  COUNT(*) OVER (PARTITION BY group_id) AS entries,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY score, label) - 1 AS score_place,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY label, score) - 1 AS label_place
FROM entries
