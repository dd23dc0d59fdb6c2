-- AUUC: area under the uplift curve: outcome gained per unit by treating the top share by score, averaged over all shares.
--     AUUC = mean over shares f of f * (mean outcome of the treated in the top f - that of the controls there)
-- Full name: area under the uplift curve.
-- Use when: you rank units by predicted uplift, and want the gain in the unit of the outcome, such as revenue. A random order gets half the effect on all.
-- Range: -inf to inf.
-- Interval: influence auuc_influence FROM uplift_influence
-- Undefined: no treated unit or no control.
-- Unit: outcome per unit.
-- Source: Devriendt, Van Belle, Guns & Verbeke 2020; the area of scikit-uplift uplift_curve over the squared number of units.
SELECT
  group_id,
  SUM(weight * (gain + previous_gain) / 2) / NULLIF(MAX(total_treated + total_controls) * MAX(total_treated + total_controls), 0) AS auuc
FROM uplift_gains
GROUP BY group_id
