-- surrogate_terms: one row per group and prediction (k highest of each class): label, score, score less margin if positive, rank in class, counts.
-- A negative with a higher score than the margin score of a positive adds the difference to the surrogate.
-- $k: integer from 1: number of negatives and, at most, positives that are compared.
-- $margin: number above 0, default 1: required margin between the scores of a positive and a negative.
-- Grain: group_id, label, class_rank
SELECT
  group_id, label, score,
  class_rank, -- rank by score within its class, from 1
  total_positives,
  smaller(total_positives, $k) AS num_compared, -- positives that are compared
  CASE WHEN label = 1 THEN score - $margin ELSE score END AS margin_score -- score; of a positive less the margin
FROM class_ranks
WHERE class_rank <= $k
