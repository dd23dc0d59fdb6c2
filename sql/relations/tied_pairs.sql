-- tied_pairs: one row per label and score that occur together in a list: the weight of its pairs with those before it of the
-- same score, and of the same label.
SELECT
  group_id,
  weight * COALESCE(SUM(weight) OVER (
    PARTITION BY group_id, score_place ORDER BY label_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS score_ties,
  weight * COALESCE(SUM(weight) OVER (
    PARTITION BY group_id, label_place ORDER BY score_place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS label_ties
FROM ordered
