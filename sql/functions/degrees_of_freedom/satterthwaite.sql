-- degrees_of_freedom: degrees of freedom of a variance, 2 over the squared coefficient of variation of its estimate.
-- That coefficient follows from the kurtosis of influence. The result is at most the number of trials less 1, and at least 3.
-- Source: Satterthwaite 1946; trials: Kish 1965.
CREATE MACRO degrees_of_freedom(concentration, units, trials) AS CASE
  WHEN concentration < 2 AND (trials - 1) * (concentration - 1 / NULLIF(units, 0)) > 2
    THEN CASE
      WHEN 3 * (concentration - 1 / NULLIF(units, 0)) > 2 THEN 3
      ELSE 2 / NULLIF(concentration - 1 / NULLIF(units, 0), 0)
    END
  WHEN trials > 4 THEN trials - 1
  ELSE 3
END
