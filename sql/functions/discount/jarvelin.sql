-- 1 at ranks 1 and 2, 1 / log2(rank) from there on (Järvelin & Kekäläinen 2002, with their base of 2).
-- Never zero: LN(rank).
CREATE MACRO discount(rank) AS CASE WHEN rank <= 2 THEN 1 ELSE LN(2) / LN(rank) END
