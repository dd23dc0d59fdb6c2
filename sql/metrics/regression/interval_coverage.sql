-- IntervalCoverage: share of the labels that are within the predicted interval, its limits included.
--     IntervalCoverage = labels from low to high / labels
-- Use when: you need to know if prediction intervals contain as many labels as they promise. Read it with IntervalWidth.
-- Requires: ordered intervals.
-- Direction: neither.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: prediction interval coverage probability (PICP).
SELECT
  group_id,
  SUM(CASE WHEN label >= interval_low AND label <= interval_high THEN weight ELSE 0 END) / NULLIF(SUM(weight), 0) AS interval_coverage
FROM predictions
GROUP BY group_id
