-- share: the value over the greatest value of any order.
CREATE MACRO share(value, best) AS value / NULLIF(best, 0)
