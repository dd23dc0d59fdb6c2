-- QuantileCoverage: share of the labels that are at most the predicted quantile; of a calibrated quantile it is the level.
--     QuantileCoverage = labels at or below the quantile / labels
-- Use when: you need to know if a predicted quantile is above the right share of labels.
-- Direction: neither.
-- Range: 0 to 1.
-- Undefined: no predictions, or all of weight 0.
-- Source: Gneiting, Balabdaoui & Raftery 2007.
SELECT
  group_id,
  SUM(CASE WHEN label <= score THEN weight ELSE 0 END) / NULLIF(SUM(weight), 0) AS quantile_coverage
FROM predictions
GROUP BY group_id
