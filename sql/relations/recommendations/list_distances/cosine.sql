-- list_distances: one row per list that is not empty: mean cosine distance of two of its first k documents, by their category values.
-- Grain: list_id
SELECT
  cut_lists.list_id,
  mean_distance(similarity_sums.similarity_sum, cut_lists.list_length) AS mean_distance -- mean distance of two documents; NULL of one document
FROM cut_lists
LEFT JOIN (
  -- one row per list with a categorized document
  SELECT
    list_id,
    SUM(normalized_sum * normalized_sum - normalized_square_sum) AS similarity_sum -- over ordered pairs of documents
  FROM list_category_counts
  GROUP BY list_id
) AS similarity_sums ON similarity_sums.list_id = cut_lists.list_id
