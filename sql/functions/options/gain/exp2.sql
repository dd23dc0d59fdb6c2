-- gain: 2^relevance - 1, which favors the highest grades (Burges et al. 2005).
-- Grades above 600 count as 600, since doubles cannot hold their weighted gain.
CREATE MACRO gain(relevance) AS EXP(CASE WHEN relevance > 600 THEN 600 ELSE relevance END * LN(2)) - 1
