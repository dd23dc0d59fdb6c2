-- kappa_influence: one row per group and item of at least two ratings: its sampled unit, weight of 1, and influence on Fleiss' kappa.
-- Sampling unit: predictions.
-- Source: the delta method.
-- Grain: group_id, item_id
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id,
  1 AS influence_weight, -- an item counts once
  1 AS num_units, -- the row is one item
  ((agreement - mean_agreement) * (1 - mean_chance) - 2 * (chance_agreement - mean_chance) * (1 - mean_agreement))
    / NULLIF(num_items * (1 - mean_chance) * (1 - mean_chance), 0) AS kappa_influence
FROM (
  -- one row per group and item
  SELECT
    item_agreement.*,
    AVG(agreement) OVER (PARTITION BY group_id) AS mean_agreement,
    AVG(chance_agreement) OVER (PARTITION BY group_id) AS mean_chance,
    COUNT(*) OVER (PARTITION BY group_id) AS num_items
  FROM item_agreement
) AS agreements_with_means
