-- exact_weight: the weight as an integer number of units of 2^-80, in which weights from 10^-10 to 10^13 keep all or most of their digits.
CREATE MACRO exact_weight(weight) AS CAST(weight * 1208925819614629174706176.0 AS HUGEINT)
