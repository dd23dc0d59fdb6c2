-- tau_terms: one row per group, with the weights of its concordant and discordant pairs, and of all pairs, the denominator of tau-a.
-- Grain: group_id
SELECT
  group_id,
  SUM(concordant) AS concordant,
  SUM(discordant) AS discordant,
  SUM(denominator) AS denominator
FROM (
  SELECT group_id, concordant, discordant, 0 AS denominator FROM pair_counts
  UNION ALL
  SELECT
    group_id,
    0 AS concordant,
    0 AS discordant,
    weight * COALESCE(SUM(weight) OVER (
      PARTITION BY group_id ORDER BY weight ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS denominator
  FROM predictions
  WHERE weight > 0
) AS counted
GROUP BY group_id
