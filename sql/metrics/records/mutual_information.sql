-- MutualInformation: information that both clusterings share, in nats.
--     MutualInformation = H(true clusters) - H(true clusters given predicted ones), H the entropy
-- Use when: you build other information measures. To compare clusterings, prefer AdjustedMutualInformation.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Range: 0 to inf.
-- Undefined: no records.
-- Unit: nats.
-- Source: Cover & Thomas 2006, section 2.3.
SELECT
  group_id,
  MAX(mutual_information) AS mutual_information -- of its one row
FROM cluster_entropies
GROUP BY group_id
