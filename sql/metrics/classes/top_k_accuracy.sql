-- TopKAccuracy: share of predictions whose label is among the k classes of the highest scores.
--     TopKAccuracy = labels among the k classes of the highest scores / labels
-- Full name: top-k accuracy.
-- Use when: users see the k most likely classes, such as suggestions in a form.
-- $k: integer from 1: number of classes with the highest scores that count.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn top_k_accuracy_score.
SELECT
  group_id,
  SUM(CASE WHEN label_rank <= $k THEN weight ELSE 0 END) / NULLIF(SUM(weight), 0) AS top_k_accuracy
FROM label_ranks
GROUP BY group_id
