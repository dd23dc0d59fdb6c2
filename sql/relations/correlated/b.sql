-- correlated: one row per group with its pairs in the same and in opposite order, and what tau-b divides by: the geometric
-- mean of the pairs not tied by label and of those not tied by score, without their product, which might be too large.
SELECT
  group_id,
  concordant,
  discordant,
  (concordant + discordant + score_ties)
    * SQRT((concordant + discordant + label_ties) / NULLIF(concordant + discordant + score_ties, 0)) AS scale
FROM pairs
