-- tau_terms: one row per group, with the weights of its concordant and discordant pairs, and the denominator of tau-c.
-- The denominator is the greatest possible difference of both, given the smaller of the numbers of distinct labels and distinct
-- scores.
-- Grain: group_id
SELECT
  group_id,
  SUM(concordant) AS concordant,
  SUM(discordant) AS discordant,
  SUM(total_weight) * SUM(total_weight) / 2 * (1 - 1 / NULLIF(CASE WHEN SUM(labels) < SUM(scores) THEN SUM(labels) ELSE SUM(scores) END, 0)) AS denominator
FROM (
  SELECT group_id, concordant, discordant, total_weight, 0 AS labels, 0 AS scores FROM pair_counts
  UNION ALL
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS total_weight, 1 AS labels, 0 AS scores FROM predictions_with_group_size GROUP BY group_id, label
  UNION ALL
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS total_weight, 0 AS labels, 1 AS scores FROM predictions_with_group_size GROUP BY group_id, score
) AS counted
GROUP BY group_id
