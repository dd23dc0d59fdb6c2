-- rated_items: one row per group and item of at least two ratings: unit, ratings, parts of observed and chance disagreement by differing values.
-- Two ratings disagree by 1 if they differ.
-- Sampling unit: predictions.
-- Nonzero: item_ratings - 1
-- Grain: group_id, item_id
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id,
  SUM(num_ratings) AS num_ratings, -- of the item
  SUM(num_ratings * (item_ratings - num_ratings) / (item_ratings - 1)) AS disagreement, -- of pairs of its ratings, divided by its other ratings
  SUM(num_ratings * (group_ratings - value_ratings)) AS chance_disagreement, -- of its ratings with all ratings of the group
  SUM(num_ratings * (item_ratings - num_ratings) / (item_ratings - 1)) AS disagreement_change, -- derivative of its sum by the weight of the item
  2 * SUM(num_ratings * (group_ratings - value_ratings)) AS chance_disagreement_change -- that of all chance disagreement
FROM rating_counts
GROUP BY group_id, unit_id, item_id
