-- gain: the relevance itself, as in trec_eval.
CREATE MACRO gain(relevance) AS relevance
