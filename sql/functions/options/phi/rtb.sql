-- phi: the relative rank of the best predictions, 0 for the others (RTB, ranking the best).
-- $u0: number above 0 to 1, default 0.5: least relative rank that counts; 0.9 counts about the best tenth.
CREATE MACRO phi(relative_rank) AS CASE WHEN relative_rank >= $u0 THEN relative_rank ELSE 0 END
