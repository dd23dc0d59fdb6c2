-- SampledPairwisePrecision: pairwise precision of all clusters, estimated from those whose true cluster is known.
-- sampling(): default uniform: how the true clusters came to be known.
-- estimate(): default corrected: what is made of the sums over clusters.
-- Undefined: no predicted cluster of two records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(records) * found),
    SUM(sampling(records) * claimed),
    SUM(sampling(records) * found * sampling(records) * claimed),
    SUM(sampling(records) * claimed * sampling(records) * claimed),
    COUNT(*)
  ) AS sampledpairwiseprecision
FROM sampled
GROUP BY group_id
