-- ClosestPrecision: mean over predicted clusters of the Jaccard similarity to the true one that is most like it.
-- Bounds: 0 to 1.
-- No interval: records of one cluster are not drawn one by one.
-- Undefined: no records.
-- Source: Benjelloun et al. 2009.
SELECT
  group_id,
  SUM(predicted_first * predicted_jaccard) / NULLIF(SUM(predicted_first), 0) AS closestprecision
FROM closest
GROUP BY group_id
