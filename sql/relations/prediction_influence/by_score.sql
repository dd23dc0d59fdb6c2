-- prediction_influence: one row per group, distinct score and label, with the influence of a prediction of weight 1.
-- This is for several scores of the same predictions, each of which looks up its influence here.
-- Influence key: score = p.score AND label = CASE WHEN p.label = 1 THEN 1 ELSE 0 END.
-- Grain: group_id, score, label
SELECT
  group_id,
  threshold AS score,
  label,
  auc_influence,
  aps_influence
FROM influence_values
WHERE segment_part < 2 AND weight > 0
