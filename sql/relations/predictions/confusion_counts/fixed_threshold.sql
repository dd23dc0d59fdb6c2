-- confusion_counts: one row per group: a given threshold, and the confusion matrix at it.
-- $threshold: number, default 0.5: the lowest score that counts as a predicted positive.
-- Requires: scores from 0 to 1 under threshold=0.5.
-- Outcomes: tp or fn, fp or tn
-- Grain: group_id
SELECT
  group_id,
  CAST($threshold AS DOUBLE) AS threshold, -- the lowest score that is predicted positive
  SUM(CASE WHEN label = 1 AND score >= $threshold THEN weight ELSE 0 END) AS tp, -- weight of true positives
  SUM(CASE WHEN label = 0 AND score >= $threshold THEN weight ELSE 0 END) AS fp, -- weight of false positives
  SUM(CASE WHEN label = 0 AND score < $threshold THEN weight ELSE 0 END) AS tn, -- weight of true negatives
  SUM(CASE WHEN label = 1 AND score < $threshold THEN weight ELSE 0 END) AS fn, -- weight of false negatives
  SUM(CASE WHEN weight > 0 THEN 1 ELSE 0 END) AS num_rows -- rows of weight 0 do not count
FROM predictions
GROUP BY group_id
