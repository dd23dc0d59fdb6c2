-- zero_division: the ratio, or 0 if it is 0 / 0.
CREATE MACRO zero_division(ratio) AS COALESCE(ratio, 0)
