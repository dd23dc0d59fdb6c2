-- scales: one row per metric and variant: units by the square of the scale of intervals that hold at every look, which is tuned for $tuned_for units.
-- Source: Waudby-Smith et al. 2021, section 2.
SELECT
  metric,
  variant,
  alpha,
  difference / NULLIF(se, 0) AS statistic,
  (units + units_control) * (LN(1 - 2 * LN(alpha)) - 2 * LN(alpha)) / $tuned_for AS scale
FROM lifts
