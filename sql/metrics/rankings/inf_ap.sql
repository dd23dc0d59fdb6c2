-- infAP: average precision inferred from a pool of which only a sample was judged (negative relevance: pooled, not judged).
--     infAP = 1/R sum over relevant documents at rank i of (1 + pooled above (relevant above / judged above)) / i
-- Full name: inferred average precision.
-- Use when: a random sample of the pool was judged. With full judgments it is AP.
-- $rel: number from 0, default 1: the lowest relevance that counts as relevant.
-- Range: 0 to 1.
-- Undefined: a query without relevant documents.
-- $smoothing: number above 0, default 0.00001: added to the counts.
-- Source: Yilmaz & Aslam 2006; trec_eval infAP.
-- Nonzero: relevant_above + nonrelevant_above + 2 * $smoothing.
SELECT
  list_id,
  SUM(
    CASE
      WHEN rank IS NULL OR relevance < $rel THEN 0
      ELSE 1 / rank + (relevant_above + nonrelevant_above + unjudged_above) / rank
        * ((relevant_above + $smoothing) / (relevant_above + nonrelevant_above + 2 * $smoothing))
    END
  ) / NULLIF(MAX(num_relevant), 0) AS inf_ap
FROM judgment_counts_above
GROUP BY list_id
