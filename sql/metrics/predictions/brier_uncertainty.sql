-- BrierUncertainty: variance of the label, BaseRate (1 - BaseRate): the Brier score of always predicting the base rate.
--     Brier = BrierReliability - BrierResolution + BrierUncertainty, if the scores of a bin are equal
-- Full name: uncertainty of the Brier score.
-- Use when: you split a Brier score into its parts, and need the one that no model changes.
-- Requires: binary labels.
-- Direction: neither.
-- Range: 0 to 0.25.
-- Undefined: no predictions, or all of weight 0.
-- Source: Murphy 1973.
SELECT
  group_id,
  -- not times the share of negatives: both are rounded, so that their product may be above 0.25
  SUM(weight * label) / NULLIF(SUM(weight), 0) * (1 - SUM(weight * label) / NULLIF(SUM(weight), 0)) AS brier_uncertainty
FROM predictions
GROUP BY group_id
