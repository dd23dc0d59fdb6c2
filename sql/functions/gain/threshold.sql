-- The grade itself from $rel on, 0 below.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
CREATE MACRO gain(relevance) AS CASE WHEN relevance >= $rel THEN relevance ELSE 0 END
