-- G: gain discounted by how far the list has fallen behind the ideal one, over the ideal gain.
--     G = sum over documents at rank i of gain / log2(2 + cost(i) - gain to i) / sum of ideal gains
-- The cost at rank i is the sum over ideal ranks j <= i of max(ideal gain at j, 1), which is i + ideal_excess_gain.
-- Use when: each nonrelevant document costs users time, and you want to reward lists that keep up with the ideal one.
-- Range: -inf to 1.
-- Undefined: a query without relevant documents.
-- Source: trec_eval G (experimental, 2008).
-- Nonzero: LN(2 + rank + ideal_excess_gain - cumulative_gain).
SELECT
  list_id,
  SUM(CASE WHEN gain > 0 OR gain < 0 THEN gain * LN(2) / LN(2 + rank + ideal_excess_gain - cumulative_gain) ELSE 0 END)
    / NULLIF(SUM(ideal_gain), 0) AS g
FROM cumulative_gains
GROUP BY list_id
