-- whole: one, where every row weighs 1: doubles hold sums of ones exactly.
-- Default.
CREATE MACRO whole(weight) AS CAST(weight AS DOUBLE)
