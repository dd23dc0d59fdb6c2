-- lifts: one row per metric and variant beside the control: the difference as a share of the control, and the standard error and the
-- degrees of freedom of its logarithm. None where a value is not above 0.
SELECT
  metric,
  variant,
  control,
  theta,
  value_control,
  value,
  units_control,
  units,
  difference,
  se,
  freedom,
  $alpha AS alpha,
  relative,
  SQRT(added) AS relative_se,
  1 / NULLIF(portion * portion / NULLIF(units - 1, 0) + (1 - portion) * (1 - portion) / NULLIF(units_control - 1, 0), 0) AS relative_freedom
FROM (
  SELECT
    metric,
    variant,
    control,
    theta,
    value_control,
    value,
    units_control,
    units,
    difference,
    se,
    freedom,
    relative,
    own + theirs AS added,
    own / NULLIF(own + theirs, 0) AS portion
  FROM (
    SELECT
      metric,
      variant,
      control,
      theta,
      value_control,
      value,
      units_control,
      units,
      difference,
      se,
      freedom,
      CASE WHEN value > 0 AND value_control > 0 THEN value / NULLIF(value_control, 0) - 1 END AS relative,
      CASE WHEN value > 0 AND value_control > 0 THEN error / NULLIF(value * value, 0) END AS own,
      CASE WHEN value > 0 AND value_control > 0 THEN error_control / NULLIF(value_control * value_control, 0) END AS theirs
    FROM effects
  ) AS shared
) AS together
