-- relative_ranks: one row per group and distinct score: weight of its positives, their relative rank, and the one if above all negatives.
-- A relative rank is the average rank of the predictions of this score, from the lowest score of the group, over their total weight plus 1.
-- A weight of w counts as w predictions of this score. Separated positives have all negatives below them,
-- and where no negatives are at the score or above, both ranks are equal to the last digit.
-- Nonzero: total_positives + total_negatives + 1.
-- Grain: group_id, score
SELECT
  group_id, score,
  positives, -- weight of the positives of this score
  CASE WHEN negatives_from > 0 AND relative_rank < separated_rank THEN relative_rank ELSE separated_rank END AS relative_rank, -- above 0, below 1
  separated_rank -- without negatives above
FROM (
  -- one row per group and distinct score
  SELECT
    score_thresholds.*,
    negatives_above + negatives AS negatives_from, -- at or above this score
    (positives_below + negatives_below + (positives + negatives) / 2 + 0.5) / (total_positives + total_negatives + 1) AS relative_rank,
    (total_negatives + positives_below + positives / 2 + 0.5) / (total_positives + total_negatives + 1) AS separated_rank
  FROM score_thresholds
) AS computed_ranks
