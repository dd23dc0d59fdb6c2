-- tau_terms: one row per group: weights of its concordant and discordant pairs, and the denominator of tau-a, the weight of all pairs.
-- Grain: group_id
SELECT
  group_id,
  SUM(concordant) AS concordant, -- weight of pairs of the same order
  SUM(discordant) AS discordant, -- weight of pairs of opposite order
  SUM(denominator) AS denominator -- of tau-a: the weight of all pairs
FROM (
  -- one row per group, and one per prediction
  SELECT group_id, concordant, discordant, 0 AS denominator FROM pair_counts
  UNION ALL
  SELECT
    group_id,
    0 AS concordant,
    0 AS discordant,
    weight * weight_before(group_id, weight) AS denominator
  FROM predictions
  WHERE weight > 0
) AS tau_components
GROUP BY group_id
