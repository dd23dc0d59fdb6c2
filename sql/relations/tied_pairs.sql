-- tied_pairs: one row per label or score of a list of more than 32 predictions, with the weight of the pairs that are tied
-- in it alone.
SELECT
  group_id,
  (SUM(weight) * SUM(weight) - SUM(weight * weight)) / 2 AS score_ties,
  0 AS label_ties
FROM entries
GROUP BY group_id, score
UNION ALL
SELECT
  group_id,
  0 AS score_ties,
  (SUM(weight) * SUM(weight) - SUM(weight * weight)) / 2 AS label_ties
FROM entries
GROUP BY group_id, label
