-- discount: 1 / rank.
CREATE MACRO discount(rank) AS 1 / rank
