-- Homogeneity: how far each predicted cluster holds records of one true cluster only: 1 - the entropy that remains, normalized.
--     Homogeneity = 1 - H(true clusters given predicted ones) / H(true clusters), H the entropy
-- Use when: clusters must not mix entities, and splits don't matter.
-- Range: 0 to 1.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Undefined: no records.
-- Source: Rosenberg & Hirschberg 2007.
SELECT
  group_id,
  MAX(homogeneity) AS homogeneity -- of its one row
FROM cluster_entropies
GROUP BY group_id
