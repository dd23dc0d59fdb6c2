-- 1 / ln(rank + 1); the same nDCG as log2, another DCG.
-- Never zero: LN(rank + 1).
CREATE MACRO discount(rank) AS 1 / LN(rank + 1)
