-- RBP: rank-biased precision, the expected gain per document for a reader who goes on with probability p.
--     RBP@k = (1 - p) sum over i <= k of gain(r_i) p^(i-1)
-- Full name: rank-biased precision.
-- Use when: judgments are incomplete and you want to see with RBPresid how much the unjudged documents could change.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- $p: number above 0 to 1, default 0.8: persistence, the probability of going on to the next document.
-- gain(): default binary: gain of a grade, to lie in [0, 1].
-- gain_scale(): default none: what gains are divided by.
-- Range: 0 to 1, but not under gain=linear, gain=exp2, gain=threshold, gain=map.
-- Undefined: a query without relevant documents.
-- Source: Moffat & Zobel 2008.
-- Tie expectation: linear (in rank_probability)
-- Nonzero: gain_scale(MAX(relevance)).
SELECT
  list_id,
  CASE
    WHEN MAX(gain(relevance)) > 0
      THEN (1 - $p) * SUM(
        CASE WHEN rank <= $k THEN rank_probability * gain(relevance) * exp_or_zero((rank - 1) * LN($p)) ELSE 0 END
      ) / gain_scale(MAX(relevance))
  END AS rbp
FROM documents_with_gain
GROUP BY list_id
