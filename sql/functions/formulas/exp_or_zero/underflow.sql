-- exp_or_zero: e^x, 0 where that is below 1e-304: some engines have an error for what no double holds.
CREATE MACRO exp_or_zero(x) AS CASE WHEN x < -700 THEN 0 ELSE EXP(x) END
