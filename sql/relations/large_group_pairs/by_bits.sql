-- large_group_pairs: rows per group of more than 32 predictions, which sum to the weights of its concordant, discordant and tied pairs.
-- Grain: many per group_id
SELECT
  group_id,
  concordant,
  discordant,
  0 AS score_ties,
  0 AS label_ties
FROM bitwise_pair_counts
UNION ALL
SELECT
  group_id,
  0 AS concordant,
  0 AS discordant,
  score_ties,
  label_ties
FROM tied_pair_counts
