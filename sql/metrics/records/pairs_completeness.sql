-- PairsCompleteness: share of the pairs of records in one true cluster that blocking lets through.
--     PairsCompleteness = candidate pairs in one true cluster / pairs in one true cluster
-- Use when: you choose blocking rules: a pair that blocking drops cannot be linked later.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent)
-- Undefined: no true cluster of two records.
-- Source: Elfeky, Verykios & Elmagarmid 2002.
SELECT
  group_id,
  SUM(candidate_links) / NULLIF(SUM(true_links), 0) AS pairs_completeness
FROM blocking_counts
GROUP BY group_id
