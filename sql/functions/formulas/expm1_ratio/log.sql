-- expm1_ratio: (e^x - 1) / x, 1 for x of 0; the logarithm of a rounded exponential keeps its digits where x is small.
-- Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition 2002, section 1.14.1.
CREATE MACRO expm1_ratio(x) AS COALESCE((EXP(x) - 1) / NULLIF(LN(EXP(x)), 0), 1)
