-- lower_limit: lower limit of Wilson's interval, from a share and its spread (see wilson_spread), at least 0.
-- The formula has no difference that rounding could make negative.
CREATE MACRO lower_limit(value, margin) AS value * value / NULLIF(value + margin, 0)
