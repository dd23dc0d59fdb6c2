-- SubsetAccuracy: share of predictions whose classes are exactly the observed ones.
-- Use when: a prediction is of use only if all of its classes are right, such as the set of filters of a query.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: scikit-learn accuracy_score.
SELECT
  group_id,
  SUM(CASE WHEN num_hits = num_observed AND num_hits = num_predicted THEN weight ELSE 0 END) / NULLIF(SUM(weight), 0) AS subset_accuracy
FROM label_sets
GROUP BY group_id
