-- MulticlassZeroOneLoss: share of predictions whose class is wrong, the error rate.
--     MulticlassZeroOneLoss = predictions of a wrong class / predictions
-- Full name: multiclass zero-one loss.
-- Use when: classes are balanced and all errors cost the same. It is 1 - MulticlassAccuracy.
-- Direction: lower.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn zero_one_loss.
SELECT
  group_id,
  SUM(CASE WHEN label = predicted THEN 0 ELSE weight END) / NULLIF(SUM(weight), 0) AS multiclass_zero_one_loss
FROM classified
GROUP BY group_id
