-- ordered: the entries of a list that is not plain, with the places of their score and of their label among its different ones,
-- each from 0, and how many different labels there are.
SELECT
  group_id,
  weight,
  score_place,
  label_place,
  1 + MAX(label_place) OVER (PARTITION BY group_id) AS labels
FROM (
  SELECT
    e.group_id,
    e.weight,
    DENSE_RANK() OVER (PARTITION BY e.group_id ORDER BY e.score) - 1 AS score_place,
    DENSE_RANK() OVER (PARTITION BY e.group_id ORDER BY e.label) - 1 AS label_place
  FROM entries AS e
  JOIN plain_lists AS l ON l.group_id = e.group_id
  WHERE l.is_plain = 0
) AS placed
