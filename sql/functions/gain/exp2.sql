-- 2^grade - 1, which favours the highest grades (Burges et al. 2005).
-- Grades above 600, whose gain no double holds where it is weighted, count as 600.
CREATE MACRO gain(relevance) AS EXP(CASE WHEN relevance > 600 THEN 600 ELSE relevance END * LN(2)) - 1
