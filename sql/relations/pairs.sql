-- pairs: one row per group with the weight of its pairs of predictions, which is the product of their weights: those that
-- label and score put in the same order, in opposite order, those tied in one of them only, and all.
SELECT
  group_id,
  CASE WHEN MAX(varies) = 1
    THEN (SUM(weight) * SUM(weight) - SUM(entry_squares)) / 2 - SUM(discordant) - SUM(score_ties) - SUM(label_ties)
    ELSE 0
  END AS concordant,
  CASE WHEN MAX(varies) = 1 THEN SUM(discordant) ELSE 0 END AS discordant,
  SUM(score_ties) AS score_ties,
  SUM(label_ties) AS label_ties,
  (SUM(weight) * SUM(weight) - SUM(squares)) / 2 AS all_pairs,
  SUM(weight) AS weight
FROM (
  SELECT group_id, weight, squares, varies, 0 AS entry_squares, 0 AS discordant, 0 AS score_ties, 0 AS label_ties FROM extents
  UNION ALL
  SELECT group_id, 0 AS weight, 0 AS squares, 0 AS varies, entry_squares, discordant, score_ties, label_ties FROM short_lists
  UNION ALL
  SELECT
    group_id, 0 AS weight, 0 AS squares, 0 AS varies, weight * weight AS entry_squares, 0 AS discordant, 0 AS score_ties, 0 AS label_ties
  FROM entries
  UNION ALL
  SELECT group_id, 0 AS weight, 0 AS squares, 0 AS varies, 0 AS entry_squares, discordant, 0 AS score_ties, 0 AS label_ties FROM inversions
  UNION ALL
  SELECT group_id, 0 AS weight, 0 AS squares, 0 AS varies, 0 AS entry_squares, 0 AS discordant, score_ties, label_ties FROM tied_pairs
) AS counted
GROUP BY group_id
