-- greater: the greater of two numbers; the second if either is NULL.
-- Engines differ in what GREATEST is of a NULL.
CREATE MACRO greater(one, other) AS CASE WHEN one > other THEN one ELSE other END
