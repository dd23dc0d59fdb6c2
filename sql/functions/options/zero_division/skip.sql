-- zero_division: the ratio; classes for which it is 0 / 0 are left out.
CREATE MACRO zero_division(ratio) AS ratio
