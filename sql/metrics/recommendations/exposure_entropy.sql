-- ExposureEntropy: Shannon's entropy of the shares of documents in all recommendations among the first k.
--     ExposureEntropy@k = - sum over items i of p(i) ln(p(i)) / ln(base)
-- Use when: you want to compare the concentration of exposure between systems, and rare items should count.
-- $k: integer from 1, default all: cut-off, the number of top-ranked documents of a list that count.
-- $base: number above 1, default 2.718281828459045: the base of the logarithm.
-- Interval: none (lists share documents)
-- Range: 0 to inf.
-- Undefined: no list holds a document.
-- Source: Shannon 1948. LensKit's Entropy is another number: of the categories of a list, CategoryEntropy.
-- Nonzero: LN($base).
SELECT
  group_id,
  SUM(
    num_recommendations / NULLIF(total_recommendations, 0)
      * LN(total_recommendations / NULLIF(num_recommendations, 0))
  ) / LN($base) AS exposure_entropy
FROM recommendation_totals
GROUP BY group_id
