-- uplift_thresholds: one row per group and distinct score: weights and outcomes of both arms at and above it, and in all.
-- Grain: group_id, score
SELECT
  group_id, score,
  weight, -- at the score
  treated_here, -- weight of the treated at the score
  controls_here, -- weight of the controls at the score
  COALESCE(SUM(treated_here) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS treated_above, -- weight of the treated above the score
  COALESCE(SUM(controls_here) OVER (
    PARTITION BY group_id ORDER BY score DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ), 0) AS controls_above, -- weight of the controls above the score
  SUM(treated_here) OVER (PARTITION BY group_id ORDER BY score DESC) AS treated, -- weight of the treated at and above the score
  SUM(controls_here) OVER (PARTITION BY group_id ORDER BY score DESC) AS controls, -- weight of the controls at and above the score
  SUM(treated_outcome) OVER (PARTITION BY group_id ORDER BY score DESC) AS treated_outcome, -- sum of outcomes of the treated, by weight
  SUM(control_outcome) OVER (PARTITION BY group_id ORDER BY score DESC) AS control_outcome, -- sum of outcomes of the controls, by weight
  SUM(treated_here) OVER (PARTITION BY group_id) AS total_treated, -- weight of all treated
  SUM(controls_here) OVER (PARTITION BY group_id) AS total_controls, -- weight of all controls
  SUM(treated_outcome) OVER (PARTITION BY group_id) AS total_treated_outcome, -- of all treated
  SUM(control_outcome) OVER (PARTITION BY group_id) AS total_control_outcome -- of all controls
FROM (
  -- one row per group and distinct score
  SELECT
    group_id, score,
    SUM(weight) AS weight,
    SUM(weight * treatment) AS treated_here,
    SUM(weight * (1 - treatment)) AS controls_here,
    SUM(weight * treatment * label) AS treated_outcome,
    SUM(weight * (1 - treatment) * label) AS control_outcome
  FROM uplift
  WHERE weight > 0
  GROUP BY group_id, score
) AS arm_weights
