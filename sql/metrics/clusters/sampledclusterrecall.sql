-- SampledClusterRecall: cluster recall, estimated from the true clusters that are known.
-- sampling(): default uniform: how the true clusters came to be known.
-- estimate(): default corrected: what is made of the sums over clusters.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(records) * is_exact),
    SUM(sampling(records)),
    SUM(sampling(records) * is_exact * sampling(records)),
    SUM(sampling(records) * 1 * sampling(records)),
    COUNT(*)
  ) AS sampledclusterrecall
FROM sampled
GROUP BY group_id
