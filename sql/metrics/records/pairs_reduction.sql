-- PairsReduction: share of all pairs of records that are no candidates, and need not be compared; ReductionRatio of candidate pairs.
--     PairsReduction = 1 - candidate pairs / pairs of records
-- Use when: you choose blocking rules and want to know how many comparisons they save.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent)
-- Undefined: fewer than two records.
-- Source: Elfeky, Verykios & Elmagarmid 2002.
SELECT
  group_id,
  1 - SUM(candidate_pairs) / NULLIF(SUM(total_pairs), 0) AS pairs_reduction
FROM blocking_counts
GROUP BY group_id
