-- discount: 1 at every rank.
CREATE MACRO discount(rank) AS 1
