-- MulticlassRecall: average of the recall of all classes.
-- Use when: missed members of a class are expensive, and you want an average over classes.
-- Range: 0 to 1.
-- Interval: influence recall_influence FROM class_influence
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn recall_score.
SELECT
  group_id,
  SUM(recall_share * recall) / NULLIF(SUM(CASE WHEN recall IS NULL THEN 0 ELSE recall_share END), 0) AS multiclass_recall
FROM class_rates
GROUP BY group_id
