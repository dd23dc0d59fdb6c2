-- pair_disagreement: sum of the squared differences of the pairs of an item's ratings, over its ratings less 1.
-- Nonzero: item_ratings - 1
CREATE MACRO pair_disagreement(num_ratings, deviation, item_deviation, item_ratings) AS
  2 * SUM(num_ratings * (deviation - item_deviation) * (deviation - item_deviation) * item_ratings / (item_ratings - 1))
