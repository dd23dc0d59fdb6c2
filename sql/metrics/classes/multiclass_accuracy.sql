-- MulticlassAccuracy: share of predictions whose class is correct.
--     MulticlassAccuracy = predictions of the right class / predictions
-- Use when: classes are balanced and all errors cost the same. Add MulticlassBalancedAccuracy if some classes are rare.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn accuracy_score.
SELECT
  group_id,
  SUM(CASE WHEN label = predicted THEN weight ELSE 0 END) / NULLIF(SUM(weight), 0) AS multiclass_accuracy
FROM classified
GROUP BY group_id
