-- inversions: one row per list of more than 32 predictions: the weight of its pairs that are in opposite order by label and by
-- score.
SELECT
  list_id,
  discordant
FROM bit_inversions
