-- 1 / log2(rank + 1) (Järvelin & Kekäläinen 2002).
-- Default: this one.
CREATE MACRO discount(rank) AS LN(2) / LN(rank + 1)
