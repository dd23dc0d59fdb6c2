-- inversions: rows per group of more than 32 predictions whose sums are the weight of its pairs that label and score put in the
-- same order, in opposite order, and of those tied in one of them only.
SELECT
  group_id,
  concordant,
  discordant,
  0 AS score_ties,
  0 AS label_ties
FROM bit_inversions
UNION ALL
SELECT
  group_id,
  0 AS concordant,
  0 AS discordant,
  score_ties,
  label_ties
FROM tied_pairs
