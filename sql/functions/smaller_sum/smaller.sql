-- smaller_sum: the smaller of two sums.
CREATE MACRO smaller_sum(one, other) AS CASE WHEN SUM(one) < SUM(other) THEN SUM(one) ELSE SUM(other) END
