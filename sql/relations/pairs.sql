-- pairs: one row per group with the weight of its pairs of predictions, which is the product of their weights: those that
-- label and score put in the same order, in opposite order, and those tied in one of them only. Each is a sum of products: as
-- what is left of a larger sum, light pairs would be lost beside heavy ones.
SELECT
  group_id,
  SUM(concordant) AS concordant,
  SUM(discordant) AS discordant,
  SUM(score_ties) AS score_ties,
  SUM(label_ties) AS label_ties,
  SUM(weight) AS weight
FROM (
  SELECT group_id, 0 AS concordant, 0 AS discordant, 0 AS score_ties, 0 AS label_ties, weight FROM extents
  UNION ALL
  SELECT group_id, concordant, discordant, score_ties, label_ties, 0 AS weight FROM short_lists
  UNION ALL
  SELECT group_id, concordant, discordant, score_ties, label_ties, 0 AS weight FROM inversions
) AS counted
GROUP BY group_id
