-- stop_probability: (2^relevance - 1) / 2^max_grade (Chapelle et al. 2009).
-- $max_grade: number above 0 to 1000, default 4: the highest grade of the scale.
CREATE MACRO stop_probability(relevance) AS (EXP(CASE WHEN relevance > 1000 THEN 1000 ELSE relevance END * LN(2)) - 1) / EXP($max_grade * LN(2))
