-- SampledClusterPrecision: cluster precision, estimated from the true clusters that are known.
-- sampling(): default uniform: how the true clusters came to be known.
-- estimate(): default corrected: what is made of the sums over clusters.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(records) * is_exact),
    SUM(sampling(records) * touched),
    SUM(sampling(records) * is_exact * sampling(records) * touched),
    SUM(sampling(records) * touched * sampling(records) * touched),
    COUNT(*)
  ) AS sampledclusterprecision
FROM sampled
GROUP BY group_id
