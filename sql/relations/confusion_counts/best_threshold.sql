-- confusion_counts: one row per group, with the confusion matrix at the positive score that maximizes the criterion.
-- Of several such thresholds, it is the one with the smallest weight of predicted positives.
-- Grain: group_id
SELECT
  c.group_id,
  c.threshold,
  c.tp,
  c.fp,
  c.tn,
  c.fn
FROM threshold_confusion AS c
JOIN (
  SELECT
    q.group_id,
    q.criterion_value,
    MIN(q.tp + q.fp) AS num_predicted_positive
  FROM threshold_confusion AS q
  JOIN (
    SELECT
      group_id,
      MAX(criterion_value) AS quality
    FROM threshold_confusion
    GROUP BY group_id
  ) AS m ON m.group_id = q.group_id
  WHERE q.criterion_value = m.quality
  GROUP BY q.group_id, q.criterion_value
) AS b ON b.group_id = c.group_id
WHERE c.criterion_value = b.criterion_value AND c.tp + c.fp = b.num_predicted_positive
