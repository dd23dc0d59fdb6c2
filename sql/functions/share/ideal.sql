-- The share of the best value that any order could have.
CREATE MACRO share(value, best) AS value / NULLIF(best, 0)
