-- tied_pair_counts: one row per group, distinct label and score: weights of its pairs tied in score alone, and of those tied in label alone.
-- Rows have neither label nor score.
-- A pair is counted in its later row: of the same score and a higher label, or of the same label and a higher score.
-- Grain: rows of label_score_indexes
SELECT
  group_id,
  weight * COALESCE(SUM(weight) OVER (
    PARTITION BY group_id, score_index ORDER BY label_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS score_ties, -- weight of pairs tied in score only
  weight * COALESCE(SUM(weight) OVER (
    PARTITION BY group_id, label_index ORDER BY score_index ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS label_ties -- weight of pairs tied in label only
FROM label_score_indexes
