-- label_score_indexes: one row per group, distinct label and score, in groups that ranks cannot count: weight, both indexes, and number of labels.
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
    label_score_weights.group_id, label_score_weights.weight,
    DENSE_RANK() OVER (PARTITION BY label_score_weights.group_id ORDER BY label_score_weights.score) - 1 AS score_index,
    DENSE_RANK() OVER (PARTITION BY label_score_weights.group_id ORDER BY label_score_weights.label) - 1 AS label_index
  FROM label_score_weights
  JOIN rank_countable_groups ON rank_countable_groups.group_id = label_score_weights.group_id
  WHERE rank_countable_groups.is_rank_countable = 0
) AS dense_indexes
