-- tau_terms: one row per group: weights of its concordant and discordant pairs, and the denominator of tau-c.
-- The denominator is the greatest possible difference of both, given the smaller of the numbers of distinct labels and distinct scores.
-- Grain: group_id
SELECT
  group_id,
  SUM(concordant) AS concordant, -- weight of pairs of the same order
  SUM(discordant) AS discordant, -- weight of pairs of opposite order
  SUM(total_weight) * SUM(total_weight) / 2 * (
    1 - 1 / NULLIF(smaller(SUM(num_labels), SUM(num_scores)), 0)
  ) AS denominator -- of tau-c: greatest possible difference of both
FROM (
  -- one row per group for its pairs, one for its weight, and one per distinct label or score of the group
  SELECT group_id, concordant, discordant, 0 AS total_weight, 0 AS num_labels, 0 AS num_scores FROM pair_counts
  UNION ALL
  SELECT group_id, 0 AS concordant, 0 AS discordant, total_weight, 0 AS num_labels, 0 AS num_scores FROM group_weights
  UNION ALL
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS total_weight, 1 AS num_labels, 0 AS num_scores
  FROM predictions
  WHERE weight > 0
  GROUP BY group_id, label
  UNION ALL
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS total_weight, 0 AS num_labels, 1 AS num_scores
  FROM predictions
  WHERE weight > 0
  GROUP BY group_id, score
) AS tau_components
GROUP BY group_id
