-- PairwiseF: F measure of pairwise precision and recall: their harmonic mean, if beta is 1.
--     PairwiseF = (1 + beta^2) * pairs in both / (beta^2 * true pairs + predicted pairs)
-- Full name: pairwise F measure.
-- Use when: links between records are what you use. Large clusters dominate, since they have many pairs.
-- Reading: Pairs grow with the square of a cluster, so one large wrong cluster can decide it.
-- $beta: number from 0, default 1: how much more recall counts than precision.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no cluster of two records on either side; at beta=0, no predicted one.
-- Source: Menestrina, Whang & Garcia-Molina 2010.
SELECT
  group_id,
  f_measure($beta, SUM(n * (n - 1)), SUM(n * (true_size - 1)), SUM(n * (predicted_size - 1))) AS pairwise_f
FROM contingency_table
GROUP BY group_id
