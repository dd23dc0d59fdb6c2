-- tau_terms: one row per group: weights of its concordant and discordant pairs, and the denominator of gamma, that of both.
-- Grain: group_id
SELECT
  group_id,
  concordant, -- weight of pairs that score and label order alike
  discordant, -- weight of pairs that they order the other way
  concordant + discordant AS denominator -- of gamma: both
FROM pair_counts
