-- Upper limit of Wilson's interval, never above 1.
CREATE MACRO high(value, reach) AS CASE
  WHEN value > -1e-9 AND value < 1 + 1e-9 THEN (value + reach / 2 + SQRT(reach * value * (1 - value) + reach * reach / 4)) / NULLIF(1 + reach, 0)
END
