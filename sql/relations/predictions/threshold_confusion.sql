-- threshold_confusion: one row per group and distinct score of a positive: the confusion matrix, and the criterion, at that threshold.
-- criterion(): default f: what the threshold maximizes.
-- Grain: group_id, threshold
SELECT
  group_id,
  threshold, -- the lowest score that is predicted positive
  tp, -- weight of true positives
  fp, -- weight of false positives
  tn, -- weight of true negatives
  fn, -- weight of false negatives
  COALESCE(criterion(tp, fp, tn, fn), -2) AS criterion_value -- to maximize; if undefined -2, below all values
FROM (
  -- one row per group and distinct score of a positive
  SELECT
    group_id,
    score AS threshold,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    negatives_below AS tn,
    positives_below AS fn
  FROM positive_thresholds
) AS confusion_matrices
