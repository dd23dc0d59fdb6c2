-- rated_items: one row per group and item of at least two ratings: unit, observed and expected disagreement, and derivatives, for nominal ratings.
-- These are its terms of Krippendorff's alpha. Two ratings disagree by 1 if they differ.
-- Sampling unit: predictions.
-- Nonzero: item_ratings - 1
-- Grain: group_id, item_id
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id,
  SUM(num_ratings) AS num_ratings, -- of the item
  SUM(num_ratings * (item_ratings - num_ratings) / (item_ratings - 1)) AS disagreement, -- sum over pairs of its ratings, over ratings less 1
  SUM(num_ratings * (group_ratings - value_ratings)) AS chance_disagreement, -- sum over pairs of its ratings and all of the group
  SUM(num_ratings * (item_ratings - num_ratings) / (item_ratings - 1)) AS disagreement_change, -- derivative of the group's sum by the item's weight
  2 * SUM(num_ratings * (group_ratings - value_ratings)) AS chance_disagreement_change -- that of the group's sum of chance disagreement
FROM rating_counts
GROUP BY group_id, unit_id, item_id
