-- surrogate_terms: one row per group and prediction (all positives, k highest negatives): scores, margin scores of k positives, class rank, and counts.
-- A negative with a higher score than the margin score of a positive adds the difference to the surrogate. Only the k highest positives
-- need a margin.
-- $k: integer from 1: number of negatives that are compared, and of positives that need a margin.
-- $margin: number above 0, default 1: required margin between the scores of those positives and a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id, label, score,
  class_rank, -- rank by score within its class, from 1
  total_positives,
  smaller(total_positives, $k) AS num_compared, -- positives that need a margin
  CASE
    WHEN label = 1 AND class_rank <= $k THEN score - $margin
    ELSE score
  END AS margin_score -- score; of the k highest positives less the margin
FROM class_ranks
WHERE label = 1 OR class_rank <= $k
