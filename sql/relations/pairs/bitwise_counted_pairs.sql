-- bitwise_counted_pairs: one row per group with its untied pairs, counted by bits, and one per label and score with its ties: weights, to be summed.
-- A pair is counted at the highest bit in which the numbers of its labels differ.
-- Grain: many per group_id
SELECT
  group_id,
  concordant, -- weight of pairs of the same order
  discordant, -- weight of pairs of opposite order
  0 AS score_ties, -- weight of pairs tied in score only
  0 AS label_ties -- weight of pairs tied in label only
FROM bitwise_pair_counts
UNION ALL
SELECT
  group_id,
  0 AS concordant,
  0 AS discordant,
  score_ties, label_ties
FROM tied_pair_counts
