-- exact_weight: the weight as it is, where every weight is 1: sums of ones are exact in doubles.
CREATE MACRO exact_weight(weight) AS CAST(weight AS DOUBLE)
