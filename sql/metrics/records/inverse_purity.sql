-- InversePurity: share of the records that are in the most frequent predicted cluster of their true one.
--     InversePurity = sum over true clusters of (records of its most frequent predicted cluster) / records
-- counts_true is 1 at the largest overlap of a true cluster, else 0.
-- Use when: entities must not be split. It is 1 if all records are one cluster, so add Purity.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Zhao & Karypis 2001.
SELECT
  group_id,
  SUM(n * counts_true) / NULLIF(SUM(n), 0) AS inverse_purity
FROM contingency_table
GROUP BY group_id
