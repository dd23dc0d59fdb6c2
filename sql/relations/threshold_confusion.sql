-- threshold_confusion: one row per group and distinct score of a positive, with the confusion matrix at that threshold and its criterion.
-- criterion(): default f: what the threshold maximizes.
-- Grain: group_id, threshold
SELECT
  group_id,
  threshold,
  tp,
  fp,
  tn,
  fn,
  COALESCE(criterion(tp, fp, tn, fn), -2) AS criterion_value
FROM (
  SELECT
    group_id,
    score AS threshold,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    negatives_below AS tn,
    positives_below AS fn
  FROM positive_thresholds
) AS matrices
