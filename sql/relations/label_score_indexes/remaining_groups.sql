-- label_score_indexes: one row per distinct label and score of a group whose pairs window ranks cannot count, with their dense indexes from 0.
-- Grain: group_id, score_index, label_index
SELECT
  group_id,
  weight,
  score_index,
  label_index,
  1 + MAX(label_index) OVER (PARTITION BY group_id) AS num_labels
FROM (
  SELECT
    e.group_id,
    e.weight,
    DENSE_RANK() OVER (PARTITION BY e.group_id ORDER BY e.score) - 1 AS score_index,
    DENSE_RANK() OVER (PARTITION BY e.group_id ORDER BY e.label) - 1 AS label_index
  FROM label_score_weights AS e
  JOIN rank_countable_groups AS l ON l.group_id = e.group_id
  WHERE l.is_rank_countable = 0
) AS placed
