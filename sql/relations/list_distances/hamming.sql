-- list_distances: one row per ranked list, with the mean number of categories in which two of its first k documents differ.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Grain: list_id
SELECT
  a.list_id,
  2 * COALESCE(t.differing_pairs, 0) / NULLIF(a.list_length * (a.list_length - 1), 0) AS mean_distance
FROM (
  SELECT
    list_id,
    CAST(CASE WHEN list_length > $k THEN $k ELSE list_length END AS DOUBLE) AS list_length
  FROM list_lengths
) AS a
LEFT JOIN (
  SELECT
    list_id,
    SUM(num_documents * (list_length - num_documents)) AS differing_pairs
  FROM list_category_counts
  GROUP BY list_id
) AS t ON t.list_id = a.list_id
