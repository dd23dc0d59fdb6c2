-- stop_probability: the relevance itself, if it is a probability.
CREATE MACRO stop_probability(relevance) AS relevance
