-- upper_limit: upper limit of Wilson's interval, from a share and its spread (see wilson_spread), at most 1.
-- The formula has no difference that rounding could bring above 1.
CREATE MACRO upper_limit(value, margin) AS value + (1 - value) * margin / NULLIF(1 - value + margin, 0)
