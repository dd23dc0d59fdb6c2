-- How many rows of equal weight say as much.
-- Source: Kish 1965.
CREATE MACRO effective(weight, squares) AS SUM(weight) * SUM(weight) / NULLIF(SUM(squares), 0)
