-- candidates: one row per distinct score of a positive: the confusion matrix with that threshold, and its criterion.
-- criterion(): default f: what is to be greatest.
SELECT
  group_id,
  threshold,
  tp,
  fp,
  tn,
  fn,
  COALESCE(criterion(tp, fp, tn, fn), -2) AS quality
FROM (
  SELECT
    group_id,
    score AS threshold,
    positives_above + positives AS tp,
    negatives_above + negatives AS fp,
    negatives_below AS tn,
    positives_below AS fn
  FROM thresholds
) AS matrices
