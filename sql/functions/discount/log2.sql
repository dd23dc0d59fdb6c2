-- 1 / log2(rank + 1) (Järvelin & Kekäläinen 2002).
-- Default: this one.
-- Never zero: LN(rank + 1).
CREATE MACRO discount(rank) AS LN(2) / LN(rank + 1)
