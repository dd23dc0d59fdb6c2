-- class_counts: one row per group and class that is observed or predicted: weights of its labels, of its predictions, and of the right ones.
-- Grain: group_id, class_id
SELECT
  group_id, class_id,
  SUM(tp) AS tp, -- weight of the predictions of the class that are right
  SUM(label_weight) AS label_weight, -- weight of the predictions with this label
  SUM(predicted_weight) AS predicted_weight, -- weight of the predictions of this class
  SUM(SUM(label_weight)) OVER (PARTITION BY group_id) AS total_weight, -- weight of all predictions
  SUM(SUM(num_rows)) OVER (PARTITION BY group_id) AS num_rows -- number of all predictions, without those of weight 0
FROM (
  -- one row per group, observed and predicted class that occur together, and side
  SELECT
    group_id,
    label AS class_id,
    CASE WHEN label = predicted THEN weight ELSE 0 END AS tp,
    weight AS label_weight,
    0 AS predicted_weight,
    num_predictions AS num_rows
  FROM confusion_cells
  UNION ALL
  SELECT
    group_id,
    predicted AS class_id,
    0 AS tp,
    0 AS label_weight,
    weight AS predicted_weight,
    0 AS num_rows
  FROM confusion_cells
) AS class_cells
GROUP BY group_id, class_id
