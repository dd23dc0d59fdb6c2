-- targeted_rows: one row per row of positive weight: unit, outcome, weight in the top share by arm, and influence on the uplift of that share.
-- Ties at the edge of the share count in part, each by the same part of its weight.
-- The influence takes the edge as fixed. It is NULL if the share has fewer than 10 rows of an arm: intervals would hold the truth too rarely.
-- $share: number above 0 to 1: the share of the weight, highest scores first, that counts.
-- targeting(): default overall: of what the share is taken.
-- Sampling unit: predictions.
-- Source: the delta method.
-- Grain: rows of uplift
SELECT
  group_id,
  unit_id, -- what was sampled independently
  label,
  weight, -- of the row
  treated_weight, -- weight in the top share, 0 of a control
  control_weight, -- weight in the top share, 0 of the treated
  1 AS influence_weight, -- the influence is that of the row with its weight
  1 AS num_units, -- the row is one unit
  CASE
    WHEN treated_rows >= 10 AND control_rows >= 10
      THEN treated_weight * (label - treated_outcome / NULLIF(all_treated, 0)) / NULLIF(all_treated, 0)
        - control_weight * (label - control_outcome / NULLIF(all_controls, 0)) / NULLIF(all_controls, 0)
  END AS uplift_influence
FROM (
  -- one row per row of positive weight
  SELECT
    arm_targets.*,
    SUM(treated_weight) OVER (PARTITION BY group_id) AS all_treated, -- weight of the treated in the top share
    SUM(control_weight) OVER (PARTITION BY group_id) AS all_controls, -- weight of the controls there
    SUM(treated_weight * label) OVER (PARTITION BY group_id) AS treated_outcome, -- sum of their outcomes
    SUM(control_weight * label) OVER (PARTITION BY group_id) AS control_outcome, -- sum of their outcomes
    SUM(CASE WHEN treated_weight > 0 THEN 1 ELSE 0 END) OVER (PARTITION BY group_id) AS treated_rows,
    SUM(CASE WHEN control_weight > 0 THEN 1 ELSE 0 END) OVER (PARTITION BY group_id) AS control_rows
  FROM (
    -- one row per row of positive weight
    SELECT
      targeted_shares.*,
      CASE WHEN treatment = 1 THEN weight * targeting(share_of_all, share_of_arm) ELSE 0 END AS treated_weight,
      CASE WHEN treatment = 1 THEN 0 ELSE weight * targeting(share_of_all, share_of_arm) END AS control_weight
    FROM (
      -- one row per row of positive weight
      SELECT
        uplift.*,
        CASE
          WHEN uplift_thresholds.treated + uplift_thresholds.controls <= $share * (uplift_thresholds.total_treated + uplift_thresholds.total_controls) THEN 1
          WHEN uplift_thresholds.treated_above + uplift_thresholds.controls_above >= $share * (uplift_thresholds.total_treated + uplift_thresholds.total_controls) THEN 0
          ELSE ($share * (uplift_thresholds.total_treated + uplift_thresholds.total_controls) - uplift_thresholds.treated_above - uplift_thresholds.controls_above) / NULLIF(uplift_thresholds.weight, 0)
        END AS share_of_all, -- part of the row that is among the top share of all
        CASE
          WHEN uplift.treatment = 1
            THEN CASE
              WHEN uplift_thresholds.treated <= $share * uplift_thresholds.total_treated THEN 1
              WHEN uplift_thresholds.treated_above >= $share * uplift_thresholds.total_treated THEN 0
              ELSE ($share * uplift_thresholds.total_treated - uplift_thresholds.treated_above) / NULLIF(uplift_thresholds.treated_here, 0)
            END
          WHEN uplift_thresholds.controls <= $share * uplift_thresholds.total_controls THEN 1
          WHEN uplift_thresholds.controls_above >= $share * uplift_thresholds.total_controls THEN 0
          ELSE ($share * uplift_thresholds.total_controls - uplift_thresholds.controls_above) / NULLIF(uplift_thresholds.controls_here, 0)
        END AS share_of_arm -- part of the row that is among the top share of its arm
      FROM uplift
      JOIN uplift_thresholds
        ON uplift.group_id = uplift_thresholds.group_id AND uplift.score = uplift_thresholds.score
      WHERE uplift.weight > 0
    ) AS targeted_shares
  ) AS arm_targets
) AS targeted_sums
