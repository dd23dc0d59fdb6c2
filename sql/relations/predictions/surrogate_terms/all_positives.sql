-- surrogate_terms: one row per group and prediction (all positives, k highest negatives): scores, class rank, numbers of positives, and weight k.
-- A negative with a higher score than the margin score of a positive adds the difference to the surrogate.
-- $k: integer from 1: number of negatives that are compared.
-- $margin: number above 0, default 1: required margin between the scores of a positive and a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id, label, score,
  class_rank, -- rank by score within its class, from 1
  total_positives,
  total_positives AS num_compared, -- positives that are compared
  CASE WHEN label = 1 THEN score - $margin ELSE score END AS margin_score, -- score; of a positive less the margin
  $k AS max_positive_weight -- greatest weight of a positive that a top k leaves out
FROM class_ranks
WHERE label = 1 OR class_rank <= $k
