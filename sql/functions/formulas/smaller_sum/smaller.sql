-- smaller_sum: the smaller of two sums.
CREATE MACRO smaller_sum(one, other) AS CASE WHEN one < other THEN one ELSE other END
