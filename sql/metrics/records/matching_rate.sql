-- MatchingRate: share of the records whose predicted cluster holds another one.
-- Use when: you have no true clusters and want to see how many records were linked at all.
-- Direction: neither.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: er-evaluation matching_rate.
SELECT
  group_id,
  SUM(CASE WHEN predicted_size > 1 THEN n ELSE 0 END) / NULLIF(SUM(n), 0) AS matching_rate
FROM contingency_table
GROUP BY group_id
