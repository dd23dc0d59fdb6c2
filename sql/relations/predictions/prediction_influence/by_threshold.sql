-- prediction_influence: one row per group, threshold and kind of prediction there: influence on AUC and APS of such a prediction.
-- Where the same predictions have several scores, each score looks up its influence here.
-- Influence key: has_threshold = CASE WHEN p.threshold_score IS NULL THEN 0 ELSE 1 END AND threshold = COALESCE(p.threshold_score, 0) AND segment_part = CASE WHEN p.label = 1 THEN 0 WHEN p.score = p.threshold_score THEN 1 ELSE 2 END.
-- Grain: group_id, has_threshold, threshold, segment_part
SELECT
  group_id,
  has_threshold, -- 0 for what is above the highest, else 1
  threshold, -- score of a positive; 0 for what is above the highest
  segment_part, -- 0 positives, 1 negatives at it, 2 negatives below it
  auc_influence, -- derivative of AUC by the weight of a prediction
  aps_influence -- derivative of APS by the weight of a prediction
FROM influence_values
WHERE weight > 0
