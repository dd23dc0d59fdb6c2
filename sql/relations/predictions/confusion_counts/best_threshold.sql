-- confusion_counts: one row per group with a positive: the positive's score that maximizes the criterion, and the confusion matrix at it.
-- Of several such thresholds, it is the one with the smallest weight of predicted positives.
-- Grain: group_id
SELECT
  threshold_confusion.group_id,
  threshold_confusion.threshold, -- the lowest score that is predicted positive
  threshold_confusion.tp, -- weight of true positives
  threshold_confusion.fp, -- weight of false positives
  threshold_confusion.tn, -- weight of true negatives
  threshold_confusion.fn -- weight of false negatives
FROM threshold_confusion
JOIN (
  -- one row per group with a positive
  SELECT
    threshold_confusion.group_id, threshold_confusion.criterion_value,
    MIN(threshold_confusion.tp + threshold_confusion.fp) AS num_predicted_positive
  FROM threshold_confusion
  JOIN (
    -- one row per group with a positive
    SELECT
      group_id,
      MAX(criterion_value) AS criterion_value
    FROM threshold_confusion
    GROUP BY group_id
  ) AS best_criterion_values ON best_criterion_values.group_id = threshold_confusion.group_id
  WHERE threshold_confusion.criterion_value = best_criterion_values.criterion_value
  GROUP BY threshold_confusion.group_id, threshold_confusion.criterion_value
) AS best_thresholds ON best_thresholds.group_id = threshold_confusion.group_id
WHERE threshold_confusion.criterion_value = best_thresholds.criterion_value
  AND threshold_confusion.tp + threshold_confusion.fp = best_thresholds.num_predicted_positive
