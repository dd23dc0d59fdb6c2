-- MulticlassAUC: average over classes of the area under the ROC curve, of each class against the rest or each other one.
--     MulticlassAUC = sum over classes, or pairs of them, of share * AUC / sum of share
-- Use when: you only need the order of the scores of each class, not their values.
-- Range: 0 to 1.
-- Interval: influence area_influence FROM area_influence
-- Undefined: labels of one class only.
-- Source: Hand & Till 2001; scikit-learn roc_auc_score.
SELECT
  group_id,
  SUM(share * area) / NULLIF(SUM(CASE WHEN area IS NULL THEN 0 ELSE share END), 0) AS multiclass_auc
FROM averaged_areas
GROUP BY group_id
