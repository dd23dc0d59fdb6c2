-- ClickRank: sum of the ranks of the documents that users clicked, each weighted by the inverse of the probability that it was examined.
--     ClickRank = sum over clicked d of (rank of d) / propensity(rank at which d was shown)
-- Use when: rankings order the same documents, and all that are relevant should be near the top. It is the loss of propensity-weighted SVMs.
-- if_undefined(): default skip: value of a query for which it is undefined.
-- Range: 0 to inf.
-- Direction: lower.
-- Undefined: a query with a clicked document that is not retrieved. One without a click has 0.
-- Source: Joachims, Swaminathan & Schnabel 2017, equation 6.
SELECT
  list_id,
  CASE
    WHEN MAX(CASE WHEN clicked > 0 AND rank IS NULL THEN 1 ELSE 0 END) = 0 THEN COALESCE(SUM(clicked * click_weight * rank), 0)
  END AS click_rank
FROM displayed_documents
GROUP BY list_id
