-- BCubedPrecision: B-cubed precision, the mean over records of the share of their predicted cluster that is in their true cluster.
--     BCubedPrecision = sum of (n^2 / s) / sum of n
-- n is the number of records that a true cluster has in a predicted one, whose size is s.
-- Full name: B-cubed precision.
-- Use when: each record should count the same, and wrong members of its cluster are expensive.
-- record_weight(): default record: weight of a record in the mean.
-- Nonzero: predicted_size.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Bagga & Baldwin 1998.
SELECT
  group_id,
  SUM(n * n / predicted_size * record_weight(predicted_size, true_size))
    / NULLIF(SUM(n * record_weight(predicted_size, true_size)), 0) AS bcubed_precision
FROM contingency_table
GROUP BY group_id
