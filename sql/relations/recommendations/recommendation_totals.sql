-- recommendation_totals: one row per group and document in the first k of any of its lists: number of these lists, and its sum over documents.
-- Rows have no doc_id.
-- Grain: rows of recommendation_counts
SELECT
  group_id,
  num_recommendations, -- lists that have the document among their first k
  SUM(num_recommendations) OVER (PARTITION BY group_id) AS total_recommendations -- of all documents of the group
FROM recommendation_counts
