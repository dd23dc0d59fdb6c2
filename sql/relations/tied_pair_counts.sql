-- tied_pair_counts: one row per distinct label and score of a group, with the weights of its pairs tied in score and in label.
-- Pairs are those with the entries before it: of the same score and a lower label, and of the same label and a lower score.
-- Grain: rows of label_score_indexes
SELECT
  group_id,
  weight * COALESCE(SUM(weight) OVER (
    PARTITION BY group_id, score_index ORDER BY label_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS score_ties,
  weight * COALESCE(SUM(weight) OVER (
    PARTITION BY group_id, label_index ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS label_ties
FROM label_score_indexes
