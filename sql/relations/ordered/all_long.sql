-- ordered: the entries of a list with the places of their score and of their label among its different ones, each from 0, and
-- how many different labels there are.
SELECT
  group_id,
  weight,
  score_place,
  label_place,
  1 + MAX(label_place) OVER (PARTITION BY group_id) AS labels
FROM (
  SELECT
    group_id,
    weight,
    DENSE_RANK() OVER (PARTITION BY group_id ORDER BY score) - 1 AS score_place,
    DENSE_RANK() OVER (PARTITION BY group_id ORDER BY label) - 1 AS label_place
  FROM entries
) AS placed
