-- ClickDCG: DCG of the documents that users clicked, each weighted by the inverse of the probability that it was examined where it was shown.
--     ClickDCG@k = sum over clicked d of discount(rank of d) / propensity(rank at which d was shown)
-- Full name: discounted cumulative gain of clicks.
-- Use when: clicks are your only labels, and a new ranking is compared with the one that users saw. It has the mean of DCG with judgments.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- discount(): default log2: discount at a rank. none counts the documents of the first k, inverse takes reciprocal ranks.
-- Range: 0 to inf.
-- Undefined: never. A query without a click has 0.
-- Source: Joachims, Swaminathan & Schnabel 2017, additive metrics by inverse propensity scores.
SELECT
  list_id,
  COALESCE(SUM(CASE WHEN rank <= $k THEN clicked * click_weight * discount(rank) ELSE 0 END), 0) AS click_dcg
FROM displayed_documents
GROUP BY list_id
