-- Purity: share of the records that are of the most frequent true cluster of their predicted one.
--     Purity = sum over predicted clusters of (records of its most frequent true cluster) / records
-- counts_predicted is 1 at the largest overlap of a predicted cluster, else 0.
-- Use when: clusters must not mix entities. It is 1 if each record is its own cluster, so add InversePurity.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Zhao & Karypis 2001.
SELECT
  group_id,
  SUM(n * counts_predicted) / NULLIF(SUM(n), 0) AS purity
FROM contingency_table
GROUP BY group_id
