-- degrees_of_freedom: 1 / (concentration - 1 / units), kept in 3..units - 1, for differences of metrics whose variance few units make up.
-- They are Satterthwaite's if the influence of units is normal, and half of his if few units have nearly all of it. The variance of a skewed
-- difference then is least where the difference errs most, which his do not know of. Half was chosen by simulation, so that a gate passes
-- candidates at the tolerance in at most 4 % of samples. Up to 4 units are not adjusted. A concentration of 2 or more is an overflow.
-- Source: Satterthwaite 1946.
CREATE MACRO degrees_of_freedom(concentration, units, size) AS CASE
  WHEN units <= 4 OR concentration >= 2 THEN units - 1
  WHEN (concentration - 1 / NULLIF(units, 0)) * 3 > 1 THEN 3
  WHEN (concentration - 1 / NULLIF(units, 0)) * (units - 1) > 1 THEN 1 / NULLIF(concentration - 1 / NULLIF(units, 0), 0)
  ELSE units - 1
END
