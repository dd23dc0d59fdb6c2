-- bpref: how rarely judged nonrelevant documents stand above relevant ones; unjudged documents do not matter.
--     1/R sum over retrieved relevant documents of 1 - min(nonrelevant above, R) / min(judged nonrelevant, R)
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Bounds: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: Buckley & Voorhees 2004; trec_eval bpref.
SELECT
  list_id,
  SUM(
    CASE
      WHEN rank IS NULL OR relevance < $rel THEN 0
      WHEN nonrel_above = 0 THEN 1
      ELSE 1 - (CASE WHEN nonrel_above < num_rel THEN nonrel_above ELSE num_rel END)
        / NULLIF(CASE WHEN num_nonrel < num_rel THEN num_nonrel ELSE num_rel END, 0)
    END
  ) / NULLIF(MAX(num_rel), 0) AS bpref
FROM preferences
GROUP BY list_id
