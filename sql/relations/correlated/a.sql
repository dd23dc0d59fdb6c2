-- correlated: one row per group with its pairs in the same and in opposite order, and all pairs, which tau-a divides by.
SELECT
  group_id,
  SUM(concordant) AS concordant,
  SUM(discordant) AS discordant,
  SUM(scale) AS scale
FROM (
  SELECT group_id, concordant, discordant, 0 AS scale FROM pairs
  UNION ALL
  SELECT
    group_id,
    0 AS concordant,
    0 AS discordant,
    weight * COALESCE(SUM(weight) OVER (
      PARTITION BY group_id ORDER BY weight ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS scale
  FROM predictions
  WHERE weight > 0
) AS counted
GROUP BY group_id
