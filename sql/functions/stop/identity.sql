-- stop: the relevance itself, if it is a probability.
CREATE MACRO stop(relevance) AS relevance
