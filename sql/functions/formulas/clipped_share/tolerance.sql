-- clipped_share: a share without rounding errors below 0 or above 1; NULL for other values.
CREATE MACRO clipped_share(value) AS CASE
  WHEN value >= 0 AND value <= 1 THEN value
  WHEN value > -1e-9 AND value < 1 + 1e-9 THEN FLOOR(value + 0.5)
END
