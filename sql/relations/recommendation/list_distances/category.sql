-- list_distances: one row per list that is not empty: probability that two of its first k documents differ in category.
-- A document of several categories has an equal share of each.
-- Grain: list_id
SELECT
  cut_lists.list_id,
  CASE
    WHEN cut_lists.list_length > 1
      THEN 1 - COALESCE(similarity_sums.similarity_sum, 0) / NULLIF(cut_lists.list_length * (cut_lists.list_length - 1), 0)
  END AS mean_distance -- probability of different categories; NULL of one document
FROM cut_lists
LEFT JOIN (
  -- one row per list with a categorized document
  SELECT
    list_id,
    SUM(share_sum * share_sum - share_square_sum) AS similarity_sum -- over ordered pairs of documents
  FROM list_category_counts
  GROUP BY list_id
) AS similarity_sums ON similarity_sums.list_id = cut_lists.list_id
