-- CohenKappa: Cohen's kappa: accuracy adjusted for chance: 0 on the average at random, 1 if all is right.
--     kappa = (accuracy - e) / (1 - e), e = sum over classes of (share of the label) (share of the prediction)
-- Full name: Cohen's kappa.
-- Use when: you compare a model, or a second annotator, with labels and need to discount the agreement by chance.
-- Reading: 0 is the agreement of chance, and 1 agrees always. It falls if one class is rare, at the same share of agreement.
-- Range: -1 to 1.
-- Interval: influence kappa_influence FROM class_influence
-- Undefined: no predictions, or one class only.
-- Source: Cohen 1960; scikit-learn cohen_kappa_score.
SELECT
  group_id,
  (SUM(tp) * SUM(label_weight) - SUM(label_weight * predicted_weight))
    / NULLIF(SUM(label_weight) * SUM(label_weight) - SUM(label_weight * predicted_weight), 0) AS cohen_kappa
FROM class_counts
GROUP BY group_id
