-- kurtosis_inflation: factor if few units make up the variance, by simulation: 1 + 2 (concentration - 2 / units), at least 1.
-- The factor 2 is chosen by simulation, benchmarks/studies/interval_coverage.py. Up to 4 units are not adjusted.
CREATE MACRO kurtosis_inflation(concentration, units) AS CASE
  WHEN units > 4 AND concentration < 2 AND concentration * units > 2 THEN 1 + 2 * concentration - 4 / NULLIF(units, 0)
  ELSE 1
END
