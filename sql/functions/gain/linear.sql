-- gain: the relevance itself, as in trec_eval.
-- Default: this one.
CREATE MACRO gain(relevance) AS relevance
