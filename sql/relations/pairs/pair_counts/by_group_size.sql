-- pair_counts: one row per group: weights of concordant, discordant, score-tied and label-tied pairs, by a self-join in small groups.
-- A small group without a pair of different predictions has no row.
-- The weight of a pair is the product of the weights of its two predictions. Each kind of pair is summed on its own: a difference of
-- larger sums would lose the digits of light pairs.
-- Grain: group_id
SELECT
  group_id,
  SUM(concordant) AS concordant, -- weight of pairs of the same order
  SUM(discordant) AS discordant, -- weight of pairs of opposite order
  SUM(score_ties) AS score_ties, -- weight of pairs tied in score only
  SUM(label_ties) AS label_ties -- weight of pairs tied in label only
FROM (
  -- one row per group of up to 32 predictions, and several per larger group
  SELECT group_id, concordant, discordant, score_ties, label_ties FROM small_group_pairs
  UNION ALL
  SELECT group_id, concordant, discordant, score_ties, label_ties FROM counted_pairs
) AS pair_terms
GROUP BY group_id
