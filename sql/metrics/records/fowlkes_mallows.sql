-- FowlkesMallows: geometric mean of pairwise precision and recall.
--     FowlkesMallows = sqrt(PairwisePrecision * PairwiseRecall)
-- Full name: Fowlkes-Mallows index.
-- Use when: you want a mean of pairwise precision and recall that is less strict than PairwiseF.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no cluster of two records on one side (scikit-learn: 0).
-- Source: Fowlkes & Mallows 1983.
SELECT
  group_id,
  SQRT(
    SUM(n * (n - 1)) / NULLIF(SUM(n * (predicted_size - 1)), 0)
    * (SUM(n * (n - 1)) / NULLIF(SUM(n * (true_size - 1)), 0))
  ) AS fowlkes_mallows
FROM contingency_table
GROUP BY group_id
