-- correlated: one row per group with its pairs in the same and in opposite order, and all pairs, which tau-a divides by.
SELECT
  group_id,
  concordant,
  discordant,
  all_pairs AS scale
FROM pairs
