-- kurtosis_inflation: factor for kurtosis of influence: 1 plus twice the excess of concentration over 2 / units.
-- The factor 2 is chosen by simulation, benchmarks/interval_coverage.py. Up to 4 units are not adjusted.
CREATE MACRO kurtosis_inflation(concentration, units) AS CASE
  WHEN units > 4 AND concentration < 2 AND concentration * units > 2 THEN 1 + 2 * concentration - 4 / NULLIF(units, 0)
  ELSE 1
END
