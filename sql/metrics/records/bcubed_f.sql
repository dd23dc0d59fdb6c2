-- BCubedF: harmonic mean of B-cubed precision and recall.
--     BCubedF = 2 Precision Recall / (Precision + Recall), multiplied out
-- Full name: B-cubed F measure.
-- Use when: each record should count the same, whatever the size of its cluster. It is a good default.
-- Reading: 1 has every record in the right cluster. One large wrong cluster lowers it less than PairwiseF, where pairs count.
-- record_weight(): default record: weight of a record in the means.
-- Nonzero: predicted_size, true_size.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Bagga & Baldwin 1998.
SELECT
  group_id,
  2 * SUM(n * n / predicted_size * record_weight(predicted_size, true_size)) * SUM(n * n / true_size * record_weight(true_size, true_size))
    / NULLIF(
      SUM(n * n / predicted_size * record_weight(predicted_size, true_size)) * SUM(n * record_weight(true_size, true_size))
        + SUM(n * n / true_size * record_weight(true_size, true_size)) * SUM(n * record_weight(predicted_size, true_size)),
      0
    ) AS bcubed_f
FROM contingency_table
GROUP BY group_id
