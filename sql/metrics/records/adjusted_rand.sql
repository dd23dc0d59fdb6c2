-- AdjustedRand: Rand index adjusted for chance: 0 on the average for clusters of these sizes at random, 1 if all agree.
--     AdjustedRand = (S - E) / ((P + T) / 2 - E)
--     E = P T / A
-- Of all A ordered pairs of records, P are in one predicted cluster, T in one true cluster, and S in both.
-- Full name: adjusted Rand index.
-- Use when: you compare clusterings with different numbers of clusters and need to discount the agreement by chance.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Range: -0.5 to 1.
-- Undefined: no records.
-- Source: Hubert & Arabie 1985; scikit-learn adjusted_rand_score.
SELECT
  group_id,
  CASE
    WHEN SUM(n * (n - 1)) = SUM(n * (predicted_size - 1)) AND SUM(n * (n - 1)) = SUM(n * (true_size - 1)) THEN 1
    ELSE (SUM(n * (n - 1)) - SUM(n * (predicted_size - 1)) * SUM(n * (true_size - 1)) / NULLIF(SUM(n) * (SUM(n) - 1), 0))
      / NULLIF((SUM(n * (predicted_size - 1)) + SUM(n * (true_size - 1))) / 2 - SUM(n * (predicted_size - 1)) * SUM(n * (true_size - 1)) / NULLIF(SUM(n) * (SUM(n) - 1), 0), 0)
  END AS adjusted_rand
FROM contingency_table
GROUP BY group_id
