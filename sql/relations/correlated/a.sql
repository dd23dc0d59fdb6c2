-- correlated: one row per list with its pairs in the same and in opposite order, and all pairs, which tau-a divides by.
SELECT
  list_id,
  concordant,
  discordant,
  all_pairs AS scale
FROM pairs
