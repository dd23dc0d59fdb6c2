-- surrogate_terms: one row per compared prediction, with its margin score: all positives and the $k highest negatives.
-- The margin score of every positive is the mean score of the positives less the margin. A negative with a higher score adds the
-- difference to the surrogate.
-- $k: integer from 1: number of negatives that are compared.
-- $margin: number above 0, default 1: required margin between the mean score of the positives and the score of a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id,
  label,
  score,
  class_rank,
  total_positives,
  total_positives AS num_compared,
  CASE
    WHEN label = 1 THEN AVG(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY group_id) - $margin
    ELSE score
  END AS margin_score
FROM class_ranks
WHERE label = 1 OR class_rank <= $k
