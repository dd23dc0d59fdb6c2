-- The smaller of two sums.
CREATE MACRO fewer(one, other) AS CASE WHEN SUM(one) < SUM(other) THEN SUM(one) ELSE SUM(other) END
