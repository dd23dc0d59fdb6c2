-- pair_counts: one row per group, with the weights of its concordant pairs, discordant pairs, and pairs tied in score only or in label only.
-- The weight of a pair is the product of the weights of its two predictions. Each kind of pair is summed on its own: a difference of
-- larger sums would lose the digits of light pairs.
-- Grain: group_id
SELECT
  group_id,
  SUM(concordant) AS concordant,
  SUM(discordant) AS discordant,
  SUM(score_ties) AS score_ties,
  SUM(label_ties) AS label_ties,
  SUM(total_weight) AS total_weight
FROM (
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS score_ties, 0 AS label_ties, total_weight FROM group_weights
  UNION ALL
  SELECT group_id, concordant, discordant, score_ties, label_ties, 0 AS total_weight FROM small_group_pairs
  UNION ALL
  SELECT group_id, concordant, discordant, score_ties, label_ties, 0 AS total_weight FROM large_group_pairs
) AS counted
GROUP BY group_id
