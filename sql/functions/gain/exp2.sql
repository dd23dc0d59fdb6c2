-- 2^grade - 1, which favours the highest grades (Burges et al. 2005).
-- Grades above 1000, whose gain no double holds, count as 1000.
CREATE MACRO gain(relevance) AS EXP(CASE WHEN relevance > 1000 THEN 1000 ELSE relevance END * LN(2)) - 1
