-- uplift_derivatives: one row per group and distinct score: derivatives of the areas under both curves by the weight of a unit there, and totals.
--     derivative = base + slope * outcome of the unit, each for the treated and for the controls
-- A unit adds the curve at its score to an area, and moves the curve at this score and all lower ones, over the span of each.
-- Columns that end in here are of a score, and qini and gain are the two curves.
-- Grain: group_id, score
SELECT
  group_id, score, total_weight,
  arm_ratio, -- weight of the treated over that of the controls
  control_mean, -- mean outcome of all controls
  total_treated_outcome, -- sum of outcomes of all treated
  total_control_outcome, -- sum of outcomes of all controls
  total_qini, -- end of the Qini curve
  best_area, -- greatest area under the Qini curve
  SUM(weight * qini_here) OVER (PARTITION BY group_id) AS qini_area, -- area under the Qini curve
  SUM(weight * gain_here) OVER (PARTITION BY group_id) AS gain_area, -- area under the uplift curve
  qini_here - SUM(span * control_mean_here) OVER (PARTITION BY group_id ORDER BY score) AS qini_base_treated, -- of a treated unit without outcome
  SUM(span) OVER (PARTITION BY group_id ORDER BY score) AS qini_slope_treated, -- by its outcome
  qini_here + SUM(span * ratio_here * control_mean_here) OVER (PARTITION BY group_id ORDER BY score) AS qini_base_control, -- of a control without outcome
  -SUM(span * ratio_here) OVER (PARTITION BY group_id ORDER BY score) AS qini_slope_control, -- by its outcome
  gain_here + SUM(span * (treated_mean_here - control_mean_here - treated_factor * treated_mean_here)) OVER (
    PARTITION BY group_id ORDER BY score
  ) AS gain_base_treated, -- of a treated unit without outcome
  SUM(span * treated_factor) OVER (PARTITION BY group_id ORDER BY score) AS gain_slope_treated, -- by its outcome
  gain_here + SUM(span * (treated_mean_here - control_mean_here + control_factor * control_mean_here)) OVER (
    PARTITION BY group_id ORDER BY score
  ) AS gain_base_control, -- of a control without outcome
  -SUM(span * control_factor) OVER (PARTITION BY group_id ORDER BY score) AS gain_slope_control -- by its outcome
FROM (
  -- one row per group and distinct score
  SELECT
    uplift_gains.*,
    treated_mean AS treated_mean_here, -- of the treated at and above the score
    control_mean AS control_mean_here, -- of the controls at and above the score
    total_treated + total_controls AS total_weight,
    total_treated / NULLIF(total_controls, 0) AS arm_ratio,
    total_control_outcome / NULLIF(total_controls, 0) AS control_mean,
    (weight + COALESCE(LEAD(weight) OVER (PARTITION BY group_id ORDER BY score DESC), 0)) / 2 AS span, -- weight over which the area counts the curve at the score
    (qini + previous_qini) / 2 AS qini_here, -- mean of the Qini curve from the next higher score
    (gain + previous_gain) / 2 AS gain_here, -- mean of the uplift curve from the next higher score
    CASE WHEN controls > 0 THEN treated / NULLIF(controls, 0) ELSE 0 END AS ratio_here, -- treated over controls at and above the score
    CASE WHEN treated > 0 THEN (treated + controls) / NULLIF(treated, 0) ELSE 0 END AS treated_factor, -- all over the treated at and above the score
    CASE WHEN controls > 0 THEN (treated + controls) / NULLIF(controls, 0) ELSE 0 END AS control_factor -- all over the controls at and above the score
  FROM uplift_gains
) AS curve_changes
