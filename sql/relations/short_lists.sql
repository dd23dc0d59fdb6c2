-- short_lists: one row per group of at most 32 predictions: the weight of its pairs that label and score put in the same order,
-- in opposite order, and of those tied in one of them only. The pairs are compared one by one, which is fastest for so few.
SELECT
  a.group_id,
  SUM(CASE WHEN a.score < b.score AND a.label < b.label THEN a.weight * b.weight ELSE 0 END) AS concordant,
  SUM(CASE WHEN a.score < b.score AND a.label > b.label THEN a.weight * b.weight ELSE 0 END) AS discordant,
  SUM(CASE WHEN a.score = b.score THEN a.weight * b.weight ELSE 0 END) AS score_ties,
  SUM(CASE WHEN a.label = b.label THEN a.weight * b.weight ELSE 0 END) AS label_ties
FROM sized AS a
JOIN sized AS b ON b.group_id = a.group_id
WHERE a.predictions <= 32 AND b.predictions <= 32 AND (a.score < b.score OR (a.score = b.score AND a.label > b.label))
GROUP BY a.group_id
