-- correlated: one row per group with its pairs in the same and in opposite order, and what tau-b divides by: the geometric
-- mean of the pairs not tied by label and of those not tied by score.
SELECT
  group_id,
  concordant,
  discordant,
  SQRT((concordant + discordant + score_ties) * (concordant + discordant + label_ties)) AS scale
FROM pairs
