-- inversions: one row per group of more than 32 predictions: the weight of its pairs that are in opposite order by label and by
-- score.
SELECT
  group_id,
  discordant
FROM bit_inversions
