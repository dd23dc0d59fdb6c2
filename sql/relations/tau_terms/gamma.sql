-- tau_terms: one row per group, with the weights of its concordant and discordant pairs, and their sum, the denominator of gamma.
-- Grain: group_id
SELECT
  group_id,
  concordant,
  discordant,
  concordant + discordant AS denominator
FROM pair_counts
