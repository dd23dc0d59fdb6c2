-- gain: 1 for a relevance of at least $rel, else 0.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
CREATE MACRO gain(relevance) AS CASE WHEN relevance >= $rel THEN 1 ELSE 0 END
