-- lower_limit: lower limit of Wilson's interval, at least 0.
-- The formula has no difference that rounding could make negative.
CREATE MACRO lower_limit(value, reach) AS CASE
  WHEN value <= 0 AND value > -1e-9 AND reach > 0 THEN 0
  WHEN value > 0 AND value < 1 + 1e-9 THEN
    value * value / NULLIF(value + reach / 2 + SQRT(reach * value * (1 - value) + reach * reach / 4), 0)
END
