-- correlated: one row per list with its pairs in the same and in opposite order, and both together, which gamma divides by.
SELECT
  list_id,
  concordant,
  discordant,
  concordant + discordant AS scale
FROM pairs
