-- pair_margins: one row per group, metric, component and pair of compared groups: difference and ratio, and the margins of their intervals.
-- A square below 0 is a rounded 0.
-- Grain: group_id, metric, component_id, value_rank, higher_rank
SELECT
  squared_margins.*,
  SQRT(CASE WHEN square_below < 0 THEN 0 ELSE square_below END) AS margin_below,
  SQRT(CASE WHEN square_above < 0 THEN 0 ELSE square_above END) AS margin_above,
  SQRT(CASE WHEN log_square_below < 0 THEN 0 ELSE log_square_below END) AS log_margin_below,
  SQRT(CASE WHEN log_square_above < 0 THEN 0 ELSE log_square_above END) AS log_margin_above
FROM squared_margins
