-- sequence_scales: one row per metric and treatment: t statistic, and scale of its confidence sequence.
-- The sequence is narrowest at $expected_units units. The scale is the number of units times the square of the tuning parameter.
-- Source: Waudby-Smith et al. 2021, section 2.
-- Grain: metric, variant
SELECT
  metric, variant, alpha,
  difference / NULLIF(se, 0) AS statistic,
  (n_units + n_units_control) * (LN(1 - 2 * LN($tuned_alpha)) - 2 * LN($tuned_alpha)) / $expected_units AS scale
FROM effects
