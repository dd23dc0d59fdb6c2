-- label_score_indexes: one row per distinct label and score of a group, with their dense indexes from 0, and the number of distinct labels.
-- Grain: group_id, score_index, label_index
SELECT
  group_id,
  weight,
  score_index,
  label_index,
  1 + MAX(label_index) OVER (PARTITION BY group_id) AS num_labels
FROM (
  SELECT
    group_id,
    weight,
    DENSE_RANK() OVER (PARTITION BY group_id ORDER BY score) - 1 AS score_index,
    DENSE_RANK() OVER (PARTITION BY group_id ORDER BY label) - 1 AS label_index
  FROM label_score_weights
) AS placed
