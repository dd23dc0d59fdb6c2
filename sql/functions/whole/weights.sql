-- whole: the weight in parts of 2^-80, of which 10^13 and 10^-10 are whole numbers to all or most of their digits.
CREATE MACRO whole(weight) AS CAST(weight * 1208925819614629174706176.0 AS HUGEINT)
