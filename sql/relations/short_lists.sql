-- short_lists: one row per group of at most 32 predictions: the weight of its pairs that are in opposite order by label and by
-- score, of those tied in one of them only, and the sum of squares of what is tied in both. The pairs are compared one by
-- one, which is fastest for so few.
SELECT
  a.group_id,
  SUM(CASE WHEN a.score < b.score AND a.label > b.label THEN a.weight * b.weight ELSE 0 END) AS discordant,
  SUM(CASE WHEN a.score < b.score AND a.label = b.label THEN a.weight * b.weight ELSE 0 END) AS label_ties,
  SUM(CASE WHEN a.score = b.score AND a.label > b.label THEN a.weight * b.weight ELSE 0 END) AS score_ties,
  SUM(CASE WHEN a.score = b.score AND a.label = b.label THEN a.weight * b.weight ELSE 0 END) AS entry_squares
FROM sized AS a
JOIN sized AS b ON b.group_id = a.group_id
WHERE a.predictions <= 32 AND b.predictions <= 32 AND a.score <= b.score AND a.label >= b.label
GROUP BY a.group_id
