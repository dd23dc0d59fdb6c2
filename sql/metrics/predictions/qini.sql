-- Qini: area between the Qini curve and that of a random order, over the most it can be: 1 for the best order, 0 for a random one.
--     Q(s) = outcome of the treated at and above s - outcome of the controls there * treated there / controls there
--     Qini = (area under Q - area under the line to its end) / (the same of the best order)
-- The best order, whose area is best_area, has the treated with an outcome first and the controls with one last.
-- A row is a distinct score: a single one ranks nobody, and is 0 without the rounding errors of a difference of areas.
-- Full name: Qini coefficient.
-- Use when: you rank units by predicted uplift for a campaign whose size is not fixed yet, and outcomes are yes or no.
-- Requires: binary labels.
-- Range: -inf to 1.
-- Reference value: 0 (random scores).
-- Interval: influence qini_influence FROM uplift_influence
-- Undefined: no treated unit, no control, or no order is better than another.
-- Source: Radcliffe 2007; scikit-uplift qini_auc_score with negative effects.
SELECT
  group_id,
  CASE
    WHEN COUNT(*) = 1 THEN 0 -- all scores are equal
    ELSE SUM(weight * (qini + previous_qini) / 2) - MAX(total_treated + total_controls) * MAX(total_qini) / 2
  END
    / NULLIF(MAX(best_area) - MAX(total_treated + total_controls) * MAX(total_qini) / 2, 0) AS qini
FROM uplift_gains
GROUP BY group_id
