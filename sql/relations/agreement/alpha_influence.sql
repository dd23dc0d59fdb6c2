-- alpha_influence: one row per group and item of at least two ratings: its sampled unit, weight of 1, and influence on Krippendorff's alpha.
-- Sampling unit: predictions.
-- Source: the delta method.
-- Nonzero: ratings
-- Grain: group_id, item_id
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id,
  1 AS influence_weight, -- an item counts once
  1 AS num_units, -- the row is one item
  -(ratings - 1) / ratings
    * (num_ratings * observed + ratings * disagreement_change - ratings * observed * chance_disagreement_change / NULLIF(expected, 0))
    / NULLIF(expected, 0) AS alpha_influence
FROM (
  -- one row per group and item
  SELECT
    rated_items.*,
    SUM(num_ratings) OVER (PARTITION BY group_id) AS ratings, -- of all items
    SUM(disagreement) OVER (PARTITION BY group_id) AS observed, -- disagreement of all items
    SUM(chance_disagreement) OVER (PARTITION BY group_id) AS expected -- disagreement of all items by chance
  FROM rated_items
) AS item_disagreements
