-- How many standard errors an interval reaches that holds at every look.
-- Source: the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2021, theorem 2.2.
SELECT
  SQRT(
    2 * ((units + units_control) * $tuning + 1) * LN(SQRT((units + units_control) * $tuning + 1) / $alpha)
    / ((units + units_control) * $tuning)
  ) AS reach
FROM lifts
