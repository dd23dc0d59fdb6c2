-- Uplift: uplift among the top share by score: mean outcome of the treated there less that of the controls; ties at its edge count in part.
--     Uplift = mean outcome of the treated in the top share - that of the controls there
-- Use when: you can treat a fixed share of the units, and ask what the treatment does to those that the model selects.
-- $share: number above 0 to 1: the share of the weight, highest scores first, that counts.
-- targeting(): default overall: of what the share is taken.
-- Range: -inf to inf.
-- Interval: influence uplift_influence FROM targeted_rows
-- Undefined: no treated unit or no control in the top share.
-- Unit: outcome per unit.
-- Source: scikit-uplift uplift_at_k.
SELECT
  group_id,
  SUM(treated_weight * label) / NULLIF(SUM(treated_weight), 0) - SUM(control_weight * label) / NULLIF(SUM(control_weight), 0) AS uplift
FROM targeted_rows
GROUP BY group_id
