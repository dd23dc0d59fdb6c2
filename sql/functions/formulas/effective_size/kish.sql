-- effective_size: Kish's effective sample size, the number of rows of equal weight with the same variance of the mean.
-- Source: Kish 1965.
CREATE MACRO effective_size(weight, squares) AS SUM(weight) * SUM(weight) / NULLIF(SUM(squares), 0)
