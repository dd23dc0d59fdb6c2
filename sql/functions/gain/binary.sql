-- 1 from a grade of $rel on, 0 below.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
CREATE MACRO gain(relevance) AS CASE WHEN relevance >= $rel THEN 1 ELSE 0 END
