-- bpref: how rarely judged nonrelevant documents are ranked above relevant ones; unjudged documents do not matter.
--     bpref = 1 / R * sum over retrieved relevant documents of 1 - min(nonrelevant above, R) / min(judged nonrelevant, R)
-- Full name: binary preference.
-- Use when: many retrieved documents are unjudged, so that metrics that count them as not relevant would be too low.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- Source: Buckley & Voorhees 2004; trec_eval bpref.
SELECT
  list_id,
  SUM(
    CASE
      WHEN rank IS NULL OR relevance < $rel THEN 0
      WHEN nonrelevant_above = 0 THEN 1
      ELSE 1 - (CASE WHEN nonrelevant_above < num_relevant THEN nonrelevant_above ELSE num_relevant END)
        / NULLIF(CASE WHEN num_nonrelevant < num_relevant THEN num_nonrelevant ELSE num_relevant END, 0)
    END
  ) / NULLIF(MAX(num_relevant), 0) AS bpref
FROM judgment_counts_above
GROUP BY list_id
