-- relative_effects: one row per metric and treatment, with the difference relative to the control, and the standard error of its logarithm.
-- The degrees of freedom are those of the logarithm. All are NULL if a value is not above 0.
-- Grain: metric, variant
SELECT
  metric,
  variant,
  control,
  cuped_theta,
  value_control,
  value,
  n_units_control,
  n_units,
  difference,
  se,
  freedom,
  $alpha AS alpha,
  relative_difference,
  SQRT(added) AS relative_se,
  1 / NULLIF(portion * portion / NULLIF(n_units - 1, 0) + (1 - portion) * (1 - portion) / NULLIF(n_units_control - 1, 0), 0) AS relative_freedom
FROM (
  SELECT
    metric,
    variant,
    control,
    cuped_theta,
    value_control,
    value,
    n_units_control,
    n_units,
    difference,
    se,
    freedom,
    relative_difference,
    own + theirs AS added,
    own / NULLIF(own + theirs, 0) AS portion
  FROM (
    SELECT
      metric,
      variant,
      control,
      cuped_theta,
      value_control,
      value,
      n_units_control,
      n_units,
      difference,
      se,
      freedom,
      CASE WHEN value > 0 AND value_control > 0 THEN value / NULLIF(value_control, 0) - 1 END AS relative_difference,
      CASE WHEN value > 0 AND value_control > 0 THEN error / NULLIF(value * value, 0) END AS own,
      CASE WHEN value > 0 AND value_control > 0 THEN error_control / NULLIF(value_control * value_control, 0) END AS theirs
    FROM effects
  ) AS shared
) AS together
