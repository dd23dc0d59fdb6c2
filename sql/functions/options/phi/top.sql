-- phi: 1 for the best predictions, 0 for the others: the positives among them are counted.
-- $u0: number above 0 to 1, default 0.5: least relative rank that counts; 0.9 counts about the best tenth.
CREATE MACRO phi(relative_rank) AS CASE WHEN relative_rank >= $u0 THEN 1 ELSE 0 END
