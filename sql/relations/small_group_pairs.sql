-- small_group_pairs: one row per group of at most 32 predictions, with the weights of its concordant, discordant and tied pairs.
-- Pairs are compared one by one in a self-join, which is fastest for small groups.
-- Grain: group_id
SELECT
  a.group_id,
  SUM(CASE WHEN a.score < b.score AND a.label < b.label THEN a.weight * b.weight ELSE 0 END) AS concordant,
  SUM(CASE WHEN a.score < b.score AND a.label > b.label THEN a.weight * b.weight ELSE 0 END) AS discordant,
  SUM(CASE WHEN a.score = b.score THEN a.weight * b.weight ELSE 0 END) AS score_ties,
  SUM(CASE WHEN a.label = b.label THEN a.weight * b.weight ELSE 0 END) AS label_ties
FROM predictions_with_group_size AS a
JOIN predictions_with_group_size AS b ON b.group_id = a.group_id
WHERE a.num_predictions <= 32 AND b.num_predictions <= 32 AND (a.score < b.score OR (a.score = b.score AND a.label > b.label))
GROUP BY a.group_id
