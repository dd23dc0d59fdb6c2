-- Completeness: how far the records of each true cluster are in one predicted cluster: 1 - the entropy that remains, normalized.
--     Completeness = 1 - H(predicted clusters given true ones) / H(predicted clusters), H the entropy
-- Use when: entities must not be split, and mixed clusters don't matter.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Rosenberg & Hirschberg 2007.
SELECT
  group_id,
  MAX(completeness) AS completeness -- of its one row
FROM cluster_entropies
GROUP BY group_id
