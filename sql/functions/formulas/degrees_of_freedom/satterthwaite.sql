-- degrees_of_freedom: Satterthwaite's degrees of freedom: 2 / concentration, kept in 3..units - 1; a concentration of 2 is an overflow.
-- They are low if few units make up most of the variance: 2 over the squared coefficient of variation of its estimate, which follows from the kurtosis of influence, its concentration
-- times the units. A concentration of 2 or more is an overflow. Up to 4 units are not adjusted.
-- Source: Satterthwaite 1946.
CREATE MACRO degrees_of_freedom(concentration, units, size) AS CASE
  WHEN units <= 4 OR concentration >= 2 THEN units - 1
  WHEN concentration * 3 > 2 THEN 3
  WHEN concentration * (units - 1) > 2 THEN 2 / NULLIF(concentration, 0)
  ELSE units - 1
END
