-- rated_items: one row per group and item of at least two ratings: unit, observed and expected disagreement, and derivatives, for interval ratings.
-- These are its terms of Krippendorff's alpha. Two ratings disagree by their squared difference.
-- Sampling unit: predictions.
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
FROM item_deviations
GROUP BY group_id, unit_id, item_id
