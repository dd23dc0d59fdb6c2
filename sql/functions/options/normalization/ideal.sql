-- normalization: the value over the greatest value of any order.
CREATE MACRO normalization(value, best) AS value / NULLIF(best, 0)
