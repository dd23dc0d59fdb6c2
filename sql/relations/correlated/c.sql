-- correlated: one row per group with its pairs in the same and in opposite order, and what tau-c divides by: the most that
-- their difference can be where one of label and score has no more than so many different values.
SELECT
  group_id,
  SUM(concordant) AS concordant,
  SUM(discordant) AS discordant,
  SUM(weight) * SUM(weight) / 2 * (1 - 1 / NULLIF(CASE WHEN SUM(labels) < SUM(scores) THEN SUM(labels) ELSE SUM(scores) END, 0)) AS scale
FROM (
  SELECT group_id, concordant, discordant, weight, 0 AS labels, 0 AS scores FROM pairs
  UNION ALL
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS weight, 1 AS labels, 0 AS scores FROM sized GROUP BY group_id, label
  UNION ALL
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS weight, 0 AS labels, 1 AS scores FROM sized GROUP BY group_id, score
) AS counted
GROUP BY group_id
