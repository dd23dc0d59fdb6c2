-- discount: 1 / ln(rank + 1); nDCG is the same as with log2, DCG is not.
-- Nonzero: LN(rank + 1).
CREATE MACRO discount(rank) AS 1 / LN(rank + 1)
