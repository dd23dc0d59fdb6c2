-- SampledPairwiseF: pairwise F measure of all clusters, estimated from those whose true cluster is known.
-- sampling(): default uniform: how the true clusters came to be known.
-- estimate(): default corrected: what is made of the sums over clusters.
-- Undefined: no cluster of two records on either side; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(records) * 2 * found),
    SUM(sampling(records) * (claimed + links)),
    SUM(sampling(records) * 2 * found * sampling(records) * (claimed + links)),
    SUM(sampling(records) * (claimed + links) * sampling(records) * (claimed + links)),
    COUNT(*)
  ) AS sampledpairwisef
FROM sampled
GROUP BY group_id
