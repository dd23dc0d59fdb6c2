-- pair_counts: one row per group: weights of concordant, discordant, score-tied and label-tied pairs, all counted without a self-join.
-- All predictions are one group, so that a self-join of small groups would save nothing.
-- Grain: group_id
SELECT
  group_id,
  SUM(concordant) AS concordant, -- weight of pairs of the same order
  SUM(discordant) AS discordant, -- weight of pairs of opposite order
  SUM(score_ties) AS score_ties, -- weight of pairs tied in score only
  SUM(label_ties) AS label_ties -- weight of pairs tied in label only
FROM counted_pairs
GROUP BY group_id
