-- The relevance itself, for relevance that is a probability.
CREATE MACRO stop(relevance) AS relevance
