-- PrecisionAtRecall: greatest precision of the thresholds that have at least a given recall.
--     PrecisionAtRecall = max over thresholds with Recall >= recall of Precision
-- Use when: a share of the positives has to be found, as in screening, and you ask how many false alarms that costs.
-- $recall: number above 0 to 1: the least recall of the thresholds.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Interval: bootstrap (the score at which it is greatest depends on all rows)
-- Tie bounds: tied to best.
-- Undefined: predictions without a positive.
-- Source: TorchMetrics BinaryPrecisionAtFixedRecall.
SELECT
  group_id,
  MAX(
    CASE
      WHEN (total_positives - positives_below) / NULLIF(total_positives, 0) >= $recall
        THEN precision_down_to(positives, negatives, positives_above, negatives_above)
    END
  ) AS precision_at_recall
FROM positive_thresholds
GROUP BY group_id
