-- item_deviations: one row per group, item and rating: its counts, and deviations of the rating and of the item's mean from the mean of the group.
-- Sampling unit: predictions.
-- Nonzero: item_ratings
-- Grain: group_id, item_id, rating
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id, rating,
  num_ratings, -- of the item, with this rating
  item_ratings, -- of the item
  group_ratings, -- of all items
  deviation, -- of the rating from the mean of the group, or of its rank
  SUM(num_ratings * deviation) OVER (PARTITION BY group_id, item_id) / item_ratings AS item_deviation, -- mean of the item
  SUM(num_ratings * deviation * deviation) OVER (PARTITION BY group_id) AS group_squares -- of all ratings
FROM (
  -- one row per group, item and rating
  SELECT
    rating_counts.*,
    rating_deviation(group_id, rating, num_ratings, ratings_to, value_ratings, group_ratings) AS deviation
  FROM rating_counts
) AS rating_deviations
