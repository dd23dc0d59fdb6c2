-- surrogate_terms: one row per compared prediction, with its margin score: the $k highest positives and the $k highest negatives.
-- The margin score of a positive is its score less the margin. A negative with a higher score adds the difference to the surrogate.
-- $k: integer from 1: number of negatives and, at most, positives that are compared.
-- $margin: number above 0, default 1: required margin between the scores of a positive and a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id,
  label,
  score,
  class_rank,
  total_positives,
  CASE WHEN total_positives < $k THEN total_positives ELSE $k END AS num_compared,
  CASE WHEN label = 1 THEN score - $margin ELSE score END AS margin_score
FROM class_ranks
WHERE class_rank <= $k
