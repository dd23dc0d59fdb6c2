-- The grade itself, as trec_eval.
CREATE MACRO gain(relevance) AS relevance
