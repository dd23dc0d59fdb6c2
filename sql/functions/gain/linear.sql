-- The grade itself, as trec_eval.
-- Default: this one.
CREATE MACRO gain(relevance) AS relevance
