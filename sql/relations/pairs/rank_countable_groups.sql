-- rank_countable_groups: one row per group: 1 if all weights are 1 and labels and scores repeat little, so that window ranks count its pairs.
-- Window ranks pay if more than an eighth of the predictions are distinct pairs of label and score.
-- Grain: group_id
SELECT
  label_score_weights.group_id,
  CASE
    WHEN MAX(group_weights.is_unweighted) = 1 AND 8 * COUNT(*) > MAX(group_weights.num_predictions) THEN 1
    ELSE 0
  END AS is_rank_countable -- 1 if ranks count its pairs: weights of 1, few equal rows
FROM label_score_weights
JOIN group_weights ON group_weights.group_id = label_score_weights.group_id
GROUP BY label_score_weights.group_id
