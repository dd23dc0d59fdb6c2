-- discount: 1 at ranks 1 and 2, and 1 / log2(rank) at lower ranks (Järvelin & Kekäläinen 2002, with base 2).
-- Nonzero: LN(rank).
CREATE MACRO discount(rank) AS CASE WHEN rank <= 2 THEN 1 ELSE LN(2) / LN(rank) END
