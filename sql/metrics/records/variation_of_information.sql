-- VariationOfInformation: information that the clusterings do not share, in nats; 0 if they are the same.
--     VariationOfInformation = H(true clusters given predicted ones) + H(predicted clusters given true ones), H the entropy
-- Use when: you need a distance between clusterings that obeys the triangle inequality.
-- Direction: lower.
-- Interval: none (records of one cluster are not independent. Sampled metrics of a sample of true clusters have intervals)
-- Range: 0 to inf.
-- Undefined: no records.
-- Unit: nats.
-- Source: Meila 2007.
SELECT
  group_id,
  MAX(predicted_entropy_given_true + true_entropy_given_predicted) AS variation_of_information -- of its one row
FROM cluster_entropies
GROUP BY group_id
