-- smaller: the smaller of two numbers; the second if either is NULL.
-- Engines differ in what LEAST is of a NULL.
CREATE MACRO smaller(one, other) AS CASE WHEN one < other THEN one ELSE other END
