-- surrogate_terms: one row per group and prediction (all positives, k highest negatives): scores, margin on negatives, class rank, and weight 1.
-- A negative with a higher margin score than the score of a positive adds the difference to the surrogate. The margin is added to negatives,
-- since the negatives in a violated top k can outnumber the positives that it leaves out, of which each weighs 1 at most.
-- $k: integer from 1: number of negatives that are compared.
-- $margin: number above 0, default 1: required margin between the scores of a positive and a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id, label, score,
  class_rank, -- rank by score within its class, from 1
  total_positives,
  total_positives AS num_compared, -- positives that are compared
  CASE WHEN label = 1 THEN score ELSE score + $margin END AS margin_score, -- score; of a negative plus the margin
  1 AS max_positive_weight -- greatest weight of a positive that a top k leaves out
FROM class_ranks
WHERE label = 1 OR class_rank <= $k
