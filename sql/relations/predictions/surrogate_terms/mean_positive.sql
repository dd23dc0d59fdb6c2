-- surrogate_terms: one row per group and prediction (positives at their mean, k highest negatives): score, margin score, class rank, and positives.
-- A negative with a higher score than the margin score of the positives adds the difference to the surrogate.
-- $k: integer from 1: number of negatives that are compared.
-- $margin: number above 0, default 1: required margin between the mean score of the positives and the score of a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id, label, score,
  class_rank, -- rank by score within its class, from 1
  total_positives,
  total_positives AS num_compared, -- positives that are compared
  CASE
    WHEN label = 1 THEN AVG(CASE WHEN label = 1 THEN score END) OVER (PARTITION BY group_id) - $margin
    ELSE score
  END AS margin_score -- score; of a positive their mean less the margin
FROM class_ranks
WHERE label = 1 OR class_rank <= $k
