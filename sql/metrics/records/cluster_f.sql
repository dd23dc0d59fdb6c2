-- ClusterF: harmonic mean of cluster precision and recall.
--     ClusterF = 2 * clusters in both / (predicted clusters + true clusters)
-- Full name: cluster F measure.
-- Use when: only clusters that are right as a whole are useful.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Barnes 2015.
SELECT
  group_id,
  2 * SUM(CASE WHEN n = predicted_size AND n = true_size THEN 1 ELSE 0 END)
    / NULLIF(SUM(counts_predicted) + SUM(counts_true), 0) AS cluster_f
FROM contingency_table
GROUP BY group_id
