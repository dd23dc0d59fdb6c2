-- ClusterRecall: share of the true clusters that are exactly a predicted one.
--     ClusterRecall = clusters in both / true clusters
-- Use when: only clusters that are right as a whole are useful, and you want the share of entities that you found.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Barnes 2015.
SELECT
  group_id,
  SUM(CASE WHEN n = predicted_size AND n = true_size THEN 1 ELSE 0 END)
    / NULLIF(SUM(counts_true), 0) AS cluster_recall
FROM contingency_table
GROUP BY group_id
