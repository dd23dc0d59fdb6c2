-- uplift_gains: one row per group and distinct score: Qini and uplift curves at it and at the next higher score, their totals, and the best area.
-- Where one arm has no row yet, its mean outcome counts as 0. Curves are NULL without a row of each arm.
-- Grain: group_id, score
SELECT
  group_id, score,
  weight, -- at the score
  treated, -- weight of the treated at and above the score
  controls, -- weight of the controls at and above the score
  control_mean, -- mean outcome of the controls at and above the score
  treated_mean, -- mean outcome of the treated at and above the score
  total_treated, -- weight of all treated
  total_controls, -- weight of all controls
  total_treated_outcome, -- sum of outcomes of all treated
  total_control_outcome, -- sum of outcomes of all controls
  total_qini, -- of all: outcome of the treated less that of as many controls
  qini, -- the same of those at and above the score
  gain, -- units at and above the score times the difference of means
  COALESCE(LAG(qini) OVER (PARTITION BY group_id ORDER BY score DESC), 0) AS previous_qini, -- at the next higher score
  COALESCE(LAG(gain) OVER (PARTITION BY group_id ORDER BY score DESC), 0) AS previous_gain, -- at the next higher score
  total_treated_outcome * total_treated_outcome / 2
    + total_treated_outcome * (total_treated + total_controls - total_treated_outcome - total_control_outcome)
    + total_control_outcome * (total_treated_outcome + total_qini) / 2 AS best_area -- treated with an outcome first, controls with one last
FROM (
  -- one row per group and distinct score
  SELECT
    arm_means.*,
    total_treated_outcome - total_control_outcome * total_treated / NULLIF(total_controls, 0) AS total_qini,
    CASE WHEN total_treated > 0 AND total_controls > 0 THEN treated_outcome - treated * control_mean END AS qini,
    CASE WHEN total_treated > 0 AND total_controls > 0 THEN (treated + controls) * (treated_mean - control_mean) END AS gain
  FROM (
    -- one row per group and distinct score
    SELECT
      uplift_thresholds.*,
      CASE WHEN treated > 0 THEN treated_outcome / NULLIF(treated, 0) ELSE 0 END AS treated_mean,
      CASE WHEN controls > 0 THEN control_outcome / NULLIF(controls, 0) ELSE 0 END AS control_mean
    FROM uplift_thresholds
  ) AS arm_means
) AS curve_values
