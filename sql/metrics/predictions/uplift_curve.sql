-- Uplift: one row per group and point of the uplift and Qini curves, from (0, 0): what the treatment does in the top share of the weight.
-- Full name: uplift curve.
-- Use when: you choose how many units to treat, and want to see how much more each choice gains than a random one of its size.
-- Undefined: where an arm has no row at or above the threshold, its mean and the uplift are NULL. Without a row of each arm, the gains are, too.
-- Source: Radcliffe 2007; scikit-uplift qini_curve, and uplift_curve, whose values are gain times the number of rows.
SELECT
  group_id, point,
  score AS threshold, -- lowest score of the top share; NULL at (0, 0)
  fraction, -- share of the weight that is at or above the threshold
  treated_mean, -- mean outcome of the treated there
  control_mean, -- mean outcome of the controls there
  treated_mean - control_mean AS uplift, -- what the treatment does there, per unit
  gain, -- outcome gained by treating them, per unit of all
  qini -- outcome of the treated there less that of as many controls
FROM uplift_points
UNION ALL
SELECT
  group_id,
  0 AS point,
  CAST(NULL AS DOUBLE) AS threshold,
  0 / NULLIF(total_treated + total_controls, 0) AS fraction,
  CAST(NULL AS DOUBLE) AS treated_mean,
  CAST(NULL AS DOUBLE) AS control_mean,
  CAST(NULL AS DOUBLE) AS uplift,
  CASE WHEN total_treated > 0 AND total_controls > 0 THEN 0 / NULLIF(total_treated, 0) END AS gain,
  CASE WHEN total_treated > 0 AND total_controls > 0 THEN 0 / NULLIF(total_treated, 0) END AS qini
FROM (
  -- one row per group
  SELECT
    group_id,
    SUM(weight * treatment) AS total_treated,
    SUM(weight * (1 - treatment)) AS total_controls
  FROM uplift
  WHERE weight > 0
  GROUP BY group_id
) AS arm_totals
