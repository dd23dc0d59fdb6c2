-- PairsQuality: share of the candidate pairs that are of one true cluster.
--     PairsQuality = candidate pairs in one true cluster / candidate pairs
-- Use when: you choose blocking rules and comparisons are expensive.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent)
-- Undefined: no candidate pair.
-- Source: Elfeky, Verykios & Elmagarmid 2002.
SELECT
  group_id,
  SUM(candidate_links) / NULLIF(SUM(candidate_pairs), 0) AS pairs_quality
FROM blocking_counts
GROUP BY group_id
