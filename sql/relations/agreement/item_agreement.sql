-- item_agreement: one row per group and item of at least two ratings: sampled unit, and agreement of its ratings, observed and by chance.
-- Agreement is the share of pairs of ratings that are equal.
-- Sampling unit: predictions.
-- Nonzero: item_ratings, item_ratings - 1, MAX(num_items).
-- Grain: group_id, item_id
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id,
  SUM(num_ratings * (num_ratings - 1) / item_ratings / (item_ratings - 1)) AS agreement, -- share of pairs of its ratings that are equal
  SUM(num_ratings * rating_shares / item_ratings) / MAX(num_items) AS chance_agreement -- of its ratings with all items, which count the same
FROM (
  -- one row per group, item and rating
  SELECT
    rating_counts.*,
    SUM(num_ratings / item_ratings) OVER (PARTITION BY group_id ORDER BY rating)
      + SUM(num_ratings / item_ratings) OVER (PARTITION BY group_id ORDER BY rating DESC)
      - SUM(num_ratings / item_ratings) OVER (PARTITION BY group_id) AS rating_shares, -- of this rating: rows up to it and from it, less all
    SUM(num_ratings / item_ratings) OVER (PARTITION BY group_id) AS num_items
  FROM rating_counts
) AS item_shares
GROUP BY group_id, unit_id, item_id
