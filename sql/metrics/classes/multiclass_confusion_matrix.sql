-- MulticlassConfusionMatrix: one row per group, observed and predicted class: weight of these predictions, and their share of the class's labels.
-- Use when: you want to see which classes are confused.
-- Undefined: the share of a class of weight 0 is NULL.
-- Source: scikit-learn confusion_matrix.
SELECT
  group_id,
  ROW_NUMBER() OVER (PARTITION BY group_id ORDER BY label_number, predicted_number) AS point, -- number of the cell, row by row
  label, -- observed class
  predicted, -- predicted class
  weight, -- of the predictions
  weight / NULLIF(label_weight, 0) AS portion -- share of the predictions with the label
FROM class_pairs
