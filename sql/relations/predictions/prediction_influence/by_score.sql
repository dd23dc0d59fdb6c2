-- prediction_influence: one row per group, distinct score and label: influence on AUC and APS of a prediction of that score and label.
-- Where the same predictions have several scores, each score looks up its influence here.
-- Influence key: score = p.score AND label = CASE WHEN p.label = 1 THEN 1 ELSE 0 END.
-- Grain: group_id, score, label
SELECT
  group_id,
  threshold AS score,
  label,
  auc_influence, -- derivative of AUC by the weight of a prediction
  aps_influence -- derivative of APS by the weight of a prediction
FROM influence_values
WHERE segment_part < 2 AND weight > 0
