-- label_score_indexes: one row per group, distinct label and score: weight, indexes of the score and of the label, and number of labels.
-- Labels and scores are numbered without gaps.
-- Grain: group_id, score_index, label_index
SELECT
  group_id,
  weight, -- of the predictions of this label and score
  score_index, -- number of the score, ascending from 0
  label_index, -- number of the label, ascending from 0
  1 + MAX(label_index) OVER (PARTITION BY group_id) AS num_labels -- number of distinct labels
FROM (
  -- one row per group, distinct label and score
  SELECT
    group_id, weight,
    DENSE_RANK() OVER (PARTITION BY group_id ORDER BY score) - 1 AS score_index,
    DENSE_RANK() OVER (PARTITION BY group_id ORDER BY label) - 1 AS label_index
  FROM label_score_weights
) AS dense_indexes
