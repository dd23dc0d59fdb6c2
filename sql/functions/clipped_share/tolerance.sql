-- clipped_share: a share, as 0 or 1 if rounding errors take it out of 0 to 1; NULL for what is no share.
CREATE MACRO clipped_share(value) AS CASE
  WHEN value >= 0 AND value <= 1 THEN value
  WHEN value > -1e-9 AND value < 1 + 1e-9 THEN FLOOR(value + 0.5)
END
