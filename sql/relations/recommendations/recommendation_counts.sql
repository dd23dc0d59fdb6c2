-- recommendation_counts: one row per group and document in the first k of any of its lists: number of these, first ranks, and sums of 1 / norm.
-- The norm of a list is the root of its length, at most k.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- Nonzero: SQRT(CAST(CASE WHEN list_length > $k THEN $k ELSE list_length END AS DOUBLE)).
-- Grain: group_id, doc_id
SELECT
  list_groups.group_id, weighted_recommendations.doc_id,
  COUNT(*) AS num_recommendations, -- lists that have the document among their first k
  SUM(weighted_recommendations.inverse_norm) AS norm_sum, -- sum over these lists of 1 / sqrt(length)
  SUM(
    weighted_recommendations.inverse_norm * weighted_recommendations.inverse_norm
  ) AS norm_square_sum, -- sum over these lists of 1 / length
  SUM(CASE WHEN weighted_recommendations.rank = 1 THEN 1 ELSE 0 END) AS num_first_ranks -- lists that have the document at rank 1
FROM (
  -- one row per list and document among its first k
  SELECT
    ranked_documents.*,
    1 / SQRT(CAST(CASE WHEN list_length > $k THEN $k ELSE list_length END AS DOUBLE)) AS inverse_norm -- of its documents, at most k
  FROM ranked_documents
  WHERE rank <= $k
) AS weighted_recommendations
JOIN list_groups ON list_groups.list_id = weighted_recommendations.list_id
GROUP BY list_groups.group_id, weighted_recommendations.doc_id
