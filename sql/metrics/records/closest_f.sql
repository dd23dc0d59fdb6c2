-- ClosestF: harmonic mean of closest precision and recall.
--     ClosestF = 2 Precision Recall / (Precision + Recall), multiplied out
-- Full name: closest F measure.
-- Use when: clusters that are nearly right should count nearly as much as right ones.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Benjelloun et al. 2009.
SELECT
  group_id,
  2 * SUM(is_predicted * predicted_jaccard) * SUM(is_true * true_jaccard)
    / NULLIF(SUM(is_predicted * predicted_jaccard) * SUM(is_true) + SUM(is_true * true_jaccard) * SUM(is_predicted), 0) AS closest_f
FROM best_cluster_matches
GROUP BY group_id
