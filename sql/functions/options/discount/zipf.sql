-- discount: rank^-exponent.
-- $exponent: number from 0, default 1: how fast attention decreases with the rank.
CREATE MACRO discount(rank) AS EXP(-$exponent * LN(rank))
