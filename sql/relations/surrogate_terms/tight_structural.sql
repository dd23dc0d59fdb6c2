-- surrogate_terms: one row per compared prediction, with its margin score: all positives and the $k highest negatives.
-- The margin score of the $k highest positives is their score less the margin, that of the others their score. A negative with a
-- higher score adds the difference to the surrogate.
-- $k: integer from 1: number of negatives that are compared, and of positives that need a margin.
-- $margin: number above 0, default 1: required margin between the scores of those positives and a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id,
  label,
  score,
  class_rank,
  total_positives,
  CASE WHEN total_positives < $k THEN total_positives ELSE $k END AS num_compared,
  CASE WHEN label = 1 AND class_rank <= $k THEN score - $margin ELSE score END AS margin_score
FROM class_ranks
WHERE label = 1 OR class_rank <= $k
