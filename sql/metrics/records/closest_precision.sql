-- ClosestPrecision: mean over predicted clusters of the Jaccard similarity to the true one that is most like it.
-- Use when: clusters that are nearly right should count nearly as much, and you look from the predicted clusters.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Benjelloun et al. 2009.
SELECT
  group_id,
  SUM(is_predicted * predicted_jaccard) / NULLIF(SUM(is_predicted), 0) AS closest_precision
FROM best_cluster_matches
GROUP BY group_id
