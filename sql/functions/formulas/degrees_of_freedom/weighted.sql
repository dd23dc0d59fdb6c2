-- degrees_of_freedom: Satterthwaite's degrees of freedom, by weight: low if few units make up most of the variance.
-- As for units of equal weight, with the effective sample size in place of the number of units.
-- Source: Satterthwaite 1946; Kish 1965.
CREATE MACRO degrees_of_freedom(concentration, units, size) AS CASE
  WHEN size <= 4 THEN 3
  WHEN concentration >= 2 THEN size - 1
  WHEN concentration * 3 > 2 THEN 3
  WHEN concentration * (size - 1) > 2 THEN 2 / NULLIF(concentration, 0)
  ELSE size - 1
END
