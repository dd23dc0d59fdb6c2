-- correlated: one row per group with its pairs in the same and in opposite order, and both together, which gamma divides by.
SELECT
  group_id,
  concordant,
  discordant,
  concordant + discordant AS scale
FROM pairs
