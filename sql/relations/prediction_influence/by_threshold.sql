-- prediction_influence: one row per group, threshold segment and kind of prediction in it, with the influence of a prediction of weight 1.
-- This is for several scores of the same predictions, each of which looks up its influence here.
-- Influence key: has_threshold = CASE WHEN p.threshold_score IS NULL THEN 0 ELSE 1 END AND threshold = COALESCE(p.threshold_score, 0) AND segment_part = CASE WHEN p.label = 1 THEN 0 WHEN p.score = p.threshold_score THEN 1 ELSE 2 END.
-- Grain: group_id, has_threshold, threshold, segment_part
SELECT
  group_id,
  has_threshold,
  threshold,
  segment_part,
  auc_influence,
  aps_influence
FROM influence_values
WHERE weight > 0
