-- recommendation_counts: one row per group and document recommended in the top k of any ranked list, with its number of recommendations.
-- The norm sums are over these lists, of 1 / sqrt(length) and of its square, for the cosine similarity of lists. A recommendation at
-- rank 1 is counted once more on its own.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Nonzero: SQRT(CAST(CASE WHEN list_length > $k THEN $k ELSE list_length END AS DOUBLE)).
-- Grain: group_id, doc_id
SELECT
  m.group_id,
  r.doc_id,
  COUNT(*) AS num_recommendations,
  SUM(r.inverse_norm) AS norm_sum,
  SUM(r.inverse_norm * r.inverse_norm) AS norm_square_sum,
  SUM(CASE WHEN r.rank = 1 THEN 1 ELSE 0 END) AS num_first_ranks
FROM (
  SELECT
    list_id,
    doc_id,
    rank,
    1 / SQRT(CAST(CASE WHEN list_length > $k THEN $k ELSE list_length END AS DOUBLE)) AS inverse_norm
  FROM ranked_documents
  WHERE rank <= $k
) AS r
JOIN list_groups AS m ON m.list_id = r.list_id
GROUP BY m.group_id, r.doc_id
