-- recommendation_totals: one row per group and recommended document, with its number of recommendations and that of all documents.
-- Grain: rows of recommendation_counts
SELECT
  group_id,
  num_recommendations,
  SUM(num_recommendations) OVER (PARTITION BY group_id) AS total_recommendations
FROM recommendation_counts
