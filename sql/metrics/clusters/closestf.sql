-- ClosestF: harmonic mean of closest precision and recall.
-- Bounds: 0 to 1.
-- No interval: records of one cluster are not drawn one by one.
-- Undefined: no records.
-- Source: Benjelloun et al. 2009.
SELECT
  group_id,
  2 * SUM(predicted_first * predicted_jaccard) * SUM(true_first * true_jaccard)
    / NULLIF(SUM(predicted_first * predicted_jaccard) * SUM(true_first) + SUM(true_first * true_jaccard) * SUM(predicted_first), 0) AS closestf
FROM closest
GROUP BY group_id
