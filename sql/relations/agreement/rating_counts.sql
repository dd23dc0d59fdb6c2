-- rating_counts: one row per group, item of at least two ratings, and rating: unit, its count, and counts of the item, the value, all up to it, and the group.
-- Ratings may be doubles, which BigQuery does not partition by: those of equal rating are those up to it and from it, less all.
-- Validate: several_units
-- Sampling unit: predictions.
-- Grain: group_id, item_id, rating
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id, rating,
  num_ratings, -- of the item, with this rating
  item_ratings, -- of the item
  SUM(num_ratings) OVER (PARTITION BY group_id ORDER BY rating) AS ratings_to, -- of all items, with this rating or a lower one
  SUM(num_ratings) OVER (PARTITION BY group_id ORDER BY rating) + SUM(num_ratings) OVER (PARTITION BY group_id ORDER BY rating DESC)
    - SUM(num_ratings) OVER (PARTITION BY group_id) AS value_ratings, -- of all items, with this rating
  SUM(num_ratings) OVER (PARTITION BY group_id) AS group_ratings -- of all items
FROM (
  -- one row per group, item and rating
  SELECT
    counted_ratings.*,
    SUM(num_ratings) OVER (PARTITION BY group_id, item_id) AS item_ratings
  FROM (
    -- one row per group, item and rating
    SELECT
      group_id, unit_id, item_id, rating,
      COUNT(*) AS num_ratings
    FROM ratings
    WHERE rating IS NOT NULL
    GROUP BY group_id, unit_id, item_id, rating
  ) AS counted_ratings
) AS sized_items
WHERE item_ratings > 1
