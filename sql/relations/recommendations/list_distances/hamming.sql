-- list_distances: one row per list that is not empty: mean number of categories in which two of its first k documents differ.
-- Grain: list_id
SELECT
  cut_lists.list_id,
  2 * COALESCE(difference_sums.differing_pairs, 0)
    / NULLIF(cut_lists.list_length * (cut_lists.list_length - 1), 0) AS mean_distance -- mean number of differing categories; NULL of one document
FROM cut_lists
LEFT JOIN (
  -- one row per list with a categorized document
  SELECT
    list_id,
    SUM(num_documents * (list_length - num_documents)) AS differing_pairs -- pairs of which one has a category, over categories
  FROM list_category_counts
  GROUP BY list_id
) AS difference_sums ON difference_sums.list_id = cut_lists.list_id
