-- confusion_counts: one row per group, with the confusion matrix at a given threshold.
-- $threshold: number, default 0.5: the lowest score that counts as a predicted positive.
-- Grain: group_id
SELECT
  group_id,
  CAST($threshold AS DOUBLE) AS threshold,
  SUM(CASE WHEN label = 1 AND score >= $threshold THEN weight ELSE 0 END) AS tp,
  SUM(CASE WHEN label = 0 AND score >= $threshold THEN weight ELSE 0 END) AS fp,
  SUM(CASE WHEN label = 0 AND score < $threshold THEN weight ELSE 0 END) AS tn,
  SUM(CASE WHEN label = 1 AND score < $threshold THEN weight ELSE 0 END) AS fn
FROM predictions
GROUP BY group_id
