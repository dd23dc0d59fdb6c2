-- BCubedRecall: B-cubed recall, the mean over records of the share of their true cluster that is in their predicted cluster.
--     BCubedRecall = sum of (n^2 / s) / sum of n
-- n is the number of records that a predicted cluster has in a true one, whose size is s.
-- Full name: B-cubed recall.
-- Use when: each record should count the same, and missing members of its cluster are expensive.
-- record_weight(): default record: weight of a record in the mean.
-- Nonzero: true_size.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Bagga & Baldwin 1998.
SELECT
  group_id,
  SUM(n * n / true_size * record_weight(true_size, true_size))
    / NULLIF(SUM(n * record_weight(true_size, true_size)), 0) AS bcubed_recall
FROM contingency_table
GROUP BY group_id
