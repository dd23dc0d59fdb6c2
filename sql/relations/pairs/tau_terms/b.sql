-- tau_terms: one row per group: weights of its concordant and discordant pairs, and the denominator of tau-b.
-- The denominator is the geometric mean of the pairs not tied in label and the pairs not tied in score, computed without their product,
-- which could overflow.
-- Grain: group_id
SELECT
  group_id,
  concordant, -- weight of pairs of the same order
  discordant, -- weight of pairs of opposite order
  (concordant + discordant + score_ties)
    * SQRT((concordant + discordant + label_ties) / NULLIF(concordant + discordant + score_ties, 0)) AS denominator -- tau-b: geometric mean of pairs untied in label, in score
FROM pair_counts
