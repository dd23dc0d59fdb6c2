-- list_distances: one row per ranked list, with the mean probability that two of its first k documents differ in category.
-- A document of several categories has an equal share of each.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id
SELECT
  a.list_id,
  CASE WHEN a.list_length > 1 THEN 1 - COALESCE(t.similarity_sum, 0) / NULLIF(a.list_length * (a.list_length - 1), 0) END AS mean_distance
FROM (
  SELECT
    list_id,
    CAST(CASE WHEN list_length > $k THEN $k ELSE list_length END AS DOUBLE) AS list_length
  FROM list_lengths
) AS a
LEFT JOIN (
  SELECT
    list_id,
    SUM(share_sum * share_sum - share_square_sum) AS similarity_sum
  FROM list_category_counts
  GROUP BY list_id
) AS t ON t.list_id = a.list_id
