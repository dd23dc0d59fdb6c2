-- tau_terms: one row per group: weights of its concordant and discordant pairs, and the denominator of gamma, the sum of both.
-- Grain: group_id
SELECT
  group_id,
  concordant, -- weight of pairs of the same order
  discordant, -- weight of pairs of opposite order
  concordant + discordant AS denominator -- of gamma: the sum of both
FROM pair_counts
