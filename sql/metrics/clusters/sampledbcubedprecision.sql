-- SampledBCubedPrecision: B-cubed precision of all records, estimated from those whose true cluster is known.
-- sampling(): default uniform: how the true clusters came to be known.
-- estimate(): default corrected: what is made of the sums over clusters.
-- Undefined: no records; fewer than two true clusters if bias is corrected.
-- Source: Binette et al. 2023; er-evaluation.
SELECT
  group_id,
  estimate(
    SUM(sampling(records) * precise),
    SUM(sampling(records) * records),
    SUM(sampling(records) * precise * sampling(records) * records),
    SUM(sampling(records) * records * sampling(records) * records),
    COUNT(*)
  ) AS sampledbcubedprecision
FROM sampled
GROUP BY group_id
