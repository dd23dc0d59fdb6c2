-- rank_countable_groups: one row per group of more than 32 predictions, with whether window ranks can count its pairs.
-- They can where all weights are 1 and more than an eighth of the predictions are distinct label and score pairs.
-- Grain: group_id
SELECT
  e.group_id,
  CASE WHEN MAX(x.is_unweighted) = 1 AND 8 * COUNT(*) > MAX(x.num_predictions) THEN 1 ELSE 0 END AS is_rank_countable
FROM label_score_weights AS e
JOIN group_weights AS x ON x.group_id = e.group_id
GROUP BY e.group_id
