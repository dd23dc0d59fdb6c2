-- ClosestRecall: mean over true clusters of the Jaccard similarity to the predicted one that is most like it.
-- Use when: clusters that are nearly right should count nearly as much, and you look from the true clusters.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Benjelloun et al. 2009.
SELECT
  group_id,
  SUM(is_true * true_jaccard) / NULLIF(SUM(is_true), 0) AS closest_recall
FROM best_cluster_matches
GROUP BY group_id
