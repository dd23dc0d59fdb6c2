-- uplift_influence: one row per row of positive weight: sampled unit, weight, and influence on Qini and AUUC.
-- The influence is NULL if the smaller arm has fewer than 20 rows: intervals would hold the truth too rarely.
-- Sampling unit: predictions.
-- Source: the delta method.
-- Grain: rows of uplift
SELECT
  group_id,
  unit_id, -- what was sampled independently
  weight, -- of the row
  weight AS influence_weight, -- of the row
  1 AS num_units, -- the row is one unit
  CASE
    WHEN treated_rows >= 20 AND control_rows >= 20
      THEN (qini_change - random_change - (qini_area - random_area) / NULLIF(best_area - random_area, 0) * (best_change - random_change))
        / NULLIF(best_area - random_area, 0)
  END AS qini_influence,
  CASE
    WHEN treated_rows >= 20 AND control_rows >= 20
      THEN (gain_change - 2 * gain_area / NULLIF(total_weight, 0)) / NULLIF(total_weight * total_weight, 0)
  END AS auuc_influence
FROM (
  -- one row per row of positive weight
  SELECT
    uplift_derivatives.*,
    uplift.group_id, uplift.unit_id, uplift.weight,
    SUM(uplift.treatment) OVER (PARTITION BY uplift.group_id) AS treated_rows,
    SUM(1 - uplift.treatment) OVER (PARTITION BY uplift.group_id) AS control_rows,
    uplift_derivatives.total_weight * uplift_derivatives.total_qini / 2 AS random_area, -- under the line to the end of the Qini curve
    CASE
      WHEN uplift.treatment = 1 THEN uplift_derivatives.qini_base_treated + uplift_derivatives.qini_slope_treated * uplift.label
      ELSE uplift_derivatives.qini_base_control + uplift_derivatives.qini_slope_control * uplift.label
    END AS qini_change, -- derivative of the area under the Qini curve
    CASE
      WHEN uplift.treatment = 1 THEN uplift_derivatives.gain_base_treated + uplift_derivatives.gain_slope_treated * uplift.label
      ELSE uplift_derivatives.gain_base_control + uplift_derivatives.gain_slope_control * uplift.label
    END AS gain_change, -- derivative of the area under the uplift curve
    uplift_derivatives.total_qini / 2 + uplift_derivatives.total_weight / 2 * (uplift.label - uplift_derivatives.control_mean)
      * CASE WHEN uplift.treatment = 1 THEN 1 ELSE -uplift_derivatives.arm_ratio END AS random_change, -- derivative of that under the line
    CASE
      WHEN uplift.treatment = 1
        THEN uplift_derivatives.total_treated_outcome + uplift.label * (uplift_derivatives.total_weight - uplift_derivatives.total_treated_outcome)
          - uplift_derivatives.total_control_outcome * uplift_derivatives.control_mean / 2
      ELSE uplift_derivatives.total_treated_outcome
        + uplift_derivatives.total_control_outcome * uplift_derivatives.arm_ratio * (uplift_derivatives.control_mean / 2 - uplift.label)
    END AS best_change -- derivative of the greatest area
  FROM uplift
  JOIN uplift_derivatives
    ON uplift.group_id = uplift_derivatives.group_id AND uplift.score = uplift_derivatives.score
  WHERE uplift.weight > 0
) AS area_changes
