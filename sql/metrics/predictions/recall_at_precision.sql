-- RecallAtPrecision: greatest recall of the thresholds that have at least a given precision, 0 if none has.
--     RecallAtPrecision = max over thresholds with Precision >= precision of Recall
-- Use when: a share of false alarms is the most that you can bear, and you ask how many positives are then found.
-- $precision: number above 0 to 1: the least precision of the thresholds.
-- Requires: binary labels.
-- Range: 0 to 1.
-- Interval: bootstrap (the score at which it is greatest depends on all rows)
-- Tie bounds: tied to best.
-- Undefined: predictions without a positive.
-- Source: TorchMetrics BinaryRecallAtFixedPrecision.
SELECT
  group_id,
  MAX(
    CASE
      WHEN precision_down_to(positives, negatives, positives_above, negatives_above) >= $precision
        THEN (total_positives - positives_below) / NULLIF(total_positives, 0) -- recall, of the positives that are not below
      ELSE 0
    END
  ) AS recall_at_precision
FROM positive_thresholds
GROUP BY group_id
