-- IntervalScore: mean width of the predicted intervals, and a penalty for labels outside by their distance.
--     IntervalScore = mean of (high - low + 2 / (1 - coverage) * (max(0, low - label) + max(0, label - high)))
-- Use when: you want coverage and width of prediction intervals in one number.
-- $coverage: number from 0 to 0.999999, default 0.9: nominal coverage of the intervals.
-- Requires: finite scores, ordered intervals.
-- Direction: lower.
-- Range: 0 to inf.
-- Undefined: no predictions, or all of weight 0; a value beyond the greatest double.
-- Unit: in units of the label.
-- Source: Winkler 1972; Gneiting & Raftery 2007, equation 43.
-- Nonzero: 1 - $coverage.
SELECT
  group_id,
  SUM(
    weight * (
      interval_high - interval_low
      + CASE
        WHEN label < interval_low THEN 2 * (interval_low - label) / (1 - $coverage)
        WHEN label > interval_high THEN 2 * (label - interval_high) / (1 - $coverage)
        ELSE 0
      END
    )
  ) / NULLIF(SUM(weight), 0) AS interval_score
FROM predictions
GROUP BY group_id
