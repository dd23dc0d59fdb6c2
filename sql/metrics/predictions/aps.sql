-- APS: average precision score, the area under the stepwise precision-recall curve; ties share a threshold.
--     APS = sum over thresholds of (recall - recall before) * precision
-- The sum is of 1 - precision, so that a perfect order has exactly 1.
-- Full name: average precision score.
-- Use when: positives are rare and you care about the precision among the highest scores. Compare it with BaseRate, not with 0.5.
-- Reading: Random scores have the share of positives, so 0.1 is a good value if one row in 100 is positive, and a bad one if half of them are.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Interval: influence aps_influence FROM prediction_influence
-- Tie bounds: worst of PRAUC(interpolation=davis_goadrich) to best.
-- Undefined: predictions without a positive.
-- Source: scikit-learn average_precision_score.
SELECT
  group_id,
  1 - SUM(
    positives / NULLIF(total_positives, 0)
      * ((negatives_above + negatives) / NULLIF(positives_above + positives + negatives_above + negatives, 0))
  ) AS aps
FROM positive_thresholds
GROUP BY group_id
