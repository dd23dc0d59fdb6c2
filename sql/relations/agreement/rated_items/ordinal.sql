-- rated_items: one row per group and item of at least two ratings: unit, observed and expected disagreement, and derivatives, for ordinal ratings.
-- These are its terms of Krippendorff's alpha. Two ratings disagree by the squared difference of their mean ranks among all ratings of the group.
-- Sampling unit: predictions.
-- Nonzero: item_ratings - 1
-- Grain: group_id, item_id
SELECT
  group_id,
  unit_id, -- what was sampled independently
  item_id,
  SUM(num_ratings) AS num_ratings, -- of the item
  pair_disagreement(num_ratings, deviation, item_deviation, item_ratings) AS disagreement, -- sum over pairs of its ratings, over ratings less 1
  chance_disagreement(num_ratings, deviation, group_squares, group_ratings) AS chance_disagreement, -- sum over pairs of its ratings and all of the group
  pair_disagreement(num_ratings, deviation, item_deviation, item_ratings)
    + SUM(num_ratings * disagreement_by_rank) AS disagreement_change, -- derivative of the group's sum by the item's weight
  2 * chance_disagreement(num_ratings, deviation, group_squares, group_ratings)
    + SUM(num_ratings * chance_disagreement_by_rank) AS chance_disagreement_change -- that of the group's sum of chance disagreement
FROM (
  -- one row per group, item and rating
  SELECT
    rank_slopes.*,
    (
      SUM(disagreement_slope) OVER (PARTITION BY group_id ORDER BY rating DESC)
        - SUM(disagreement_slope) OVER (PARTITION BY group_id ORDER BY rating)
        + SUM(disagreement_slope) OVER (PARTITION BY group_id)
    ) / 2 AS disagreement_by_rank, -- a rating moves half of its rank, and the ranks above
    (
      SUM(chance_slope) OVER (PARTITION BY group_id ORDER BY rating DESC)
        - SUM(chance_slope) OVER (PARTITION BY group_id ORDER BY rating)
        + SUM(chance_slope) OVER (PARTITION BY group_id)
    ) / 2 AS chance_disagreement_by_rank
  FROM (
    -- one row per group, item and rating
    SELECT
      item_deviations.*,
      4 * num_ratings * (deviation - item_deviation) * item_ratings / (item_ratings - 1) AS disagreement_slope, -- part of the derivative by the rating's rank
      4 * num_ratings * group_ratings * deviation AS chance_slope
    FROM item_deviations
  ) AS rank_slopes
) AS rank_derivatives
GROUP BY group_id, unit_id, item_id
