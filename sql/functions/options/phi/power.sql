-- phi: the relative rank to a power, which stresses the best predictions (the p-norm push).
-- $p: number above 0 to 100, default 3: the power.
CREATE MACRO phi(relative_rank) AS EXP($p * LN(relative_rank))
