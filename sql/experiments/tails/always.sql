-- tails: one row per metric and variant: the least p for which an interval that holds at every look leaves 0 out at 1 - p.
SELECT
  metric,
  variant,
  LN(scale + 1) / 2 - statistic * statistic * scale / (2 * (scale + 1)) AS log_p
FROM scales
