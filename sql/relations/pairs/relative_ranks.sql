-- relative_ranks: one row per group and distinct score: weight of its positives, their relative rank, and the one if above all negatives.
-- A relative rank is the average rank of the predictions of this score, from the lowest score of the group, over their total weight plus 1.
-- A weight of w counts as w predictions of this score. Separated positives have all negatives below them,
-- and where no negatives are at the score or above, both ranks are equal to the last digit.
-- Nonzero: total_weight + 1.
-- Grain: group_id, score
SELECT
  group_id,
  score,
  positives, -- weight of the positives of this score
  CASE WHEN negatives_from > 0 AND relative_rank < separated_rank THEN relative_rank ELSE separated_rank END AS relative_rank, -- above 0, below 1
  separated_rank -- without negatives above
FROM (
  -- one row per group and distinct score
  SELECT
    group_id,
    score,
    positives,
    negatives_from,
    (weight_up_to + total_weight - weight_from + 1) / 2 / (total_weight + 1) AS relative_rank,
    (total_negatives + (positives_up_to + total_weight - total_negatives - positives_from + 1) / 2) / (total_weight + 1) AS separated_rank
  FROM (
    -- one row per group and distinct score
    SELECT
      group_id,
      score,
      positives,
      SUM(positives + negatives) OVER (PARTITION BY group_id) AS total_weight,
      SUM(negatives) OVER (PARTITION BY group_id) AS total_negatives,
      SUM(negatives) OVER (PARTITION BY group_id ORDER BY score DESC) AS negatives_from, -- at or above this score
      SUM(positives + negatives) OVER (PARTITION BY group_id ORDER BY score) AS weight_up_to, -- at or below this score
      SUM(positives + negatives) OVER (PARTITION BY group_id ORDER BY score DESC) AS weight_from, -- at or above this score
      SUM(positives) OVER (PARTITION BY group_id ORDER BY score) AS positives_up_to, -- at or below this score
      SUM(positives) OVER (PARTITION BY group_id ORDER BY score DESC) AS positives_from -- at or above this score
    FROM score_class_weights
  ) AS cumulative_weights
) AS computed_ranks
