-- pair_margins: one row per group, metric, component and pair of compared groups: difference and ratio, and the margins of their intervals.
-- A square below 0 is a rounded 0.
-- Grain: group_id, metric, component_id, value_rank, higher_rank
SELECT
  squared_margins.*,
  SQRT(greater(0, square_below)) AS margin_below,
  SQRT(greater(0, square_above)) AS margin_above,
  SQRT(greater(0, log_square_below)) AS log_margin_below,
  SQRT(greater(0, log_square_above)) AS log_margin_above
FROM squared_margins
