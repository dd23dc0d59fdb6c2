-- upper_limit: upper limit of Wilson's interval, at most 1.
-- The formula has no difference that rounding could bring above 1.
CREATE MACRO upper_limit(value, reach) AS CASE
  WHEN value >= 1 AND value < 1 + 1e-9 AND reach > 0 THEN 1
  WHEN value > -1e-9 AND value < 1 THEN
    value + (1 - value) * (reach / 2 + SQRT(reach * value * (1 - value) + reach * reach / 4))
      / NULLIF(1 - value + reach / 2 + SQRT(reach * value * (1 - value) + reach * reach / 4), 0)
END
