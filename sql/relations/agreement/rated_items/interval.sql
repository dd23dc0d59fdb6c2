-- rated_items: one row per group and item of at least two ratings: unit, observed and expected disagreement, and derivatives, for interval ratings.
-- These are its terms of Krippendorff's alpha. Two ratings disagree by their squared difference.
-- Sampling unit: predictions.
-- Nonzero: group_ratings, item_ratings
-- Grain: group_id, item_id
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id,
  SUM(num_ratings) AS num_ratings, -- of the item
  pair_disagreement(num_ratings, deviation, item_deviation, item_ratings) AS disagreement, -- sum over pairs of its ratings, over ratings less 1
  chance_disagreement(num_ratings, deviation, group_squares, group_ratings) AS chance_disagreement, -- sum over pairs of its ratings and all of the group
  pair_disagreement(num_ratings, deviation, item_deviation, item_ratings) AS disagreement_change, -- derivative of the group's sum by the item's weight
  2 * chance_disagreement(num_ratings, deviation, group_squares, group_ratings) AS chance_disagreement_change -- that of the group's sum of chance disagreement
FROM (
  -- one row per group, item and rating
  SELECT
    deviations.*,
    SUM(num_ratings * deviation) OVER (PARTITION BY group_id, item_id) / item_ratings AS item_deviation, -- mean of the item
    SUM(num_ratings * deviation * deviation) OVER (PARTITION BY group_id) AS group_squares
  FROM (
    -- one row per group, item and rating
    SELECT
      rating_counts.*,
      CAST(rating AS DOUBLE) - SUM(num_ratings * CAST(rating AS DOUBLE)) OVER (PARTITION BY group_id) / group_ratings AS deviation -- from the mean of the group
    FROM rating_counts
  ) AS deviations
) AS deviations_of_items
GROUP BY group_id, unit_id, item_id
