-- reaches: one row per metric and variant: how many standard errors an interval reaches that holds at every look, and the logarithm of the least p
-- for which it leaves 0 out at 1 - p.
-- Source: the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2021, theorem 2.2.
SELECT
  metric,
  variant,
  SQRT(2 * (scale + 1) / scale * LN(SQRT(scale + 1) / alpha)) AS reach,
  SQRT(2 * (scale + 1) / scale * LN(SQRT(scale + 1) / alpha)) AS relative_reach,
  CAST(NULL AS DOUBLE) AS found_reach,
  LN(scale + 1) / 2 - statistic * statistic * scale / (2 * (scale + 1)) AS log_p
FROM scales
