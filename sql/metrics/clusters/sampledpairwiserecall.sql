-- SampledPairwiseRecall: pairwise recall of all clusters, estimated from those whose true cluster is known.
-- sampling(): default uniform: how the true clusters came to be known.
-- estimate(): default corrected: what is made of the sums over clusters.
-- Undefined: no true cluster of two records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(records) * found),
    SUM(sampling(records) * links),
    SUM(sampling(records) * found * sampling(records) * links),
    SUM(sampling(records) * links * sampling(records) * links),
    COUNT(*)
  ) AS sampledpairwiserecall
FROM sampled
GROUP BY group_id
