-- VariationOfInformation: what each clustering does not tell of the other, in nats; 0 if they are the same.
-- Better: lower.
-- No interval: records of one cluster are not drawn one by one.
-- Undefined: no records.
-- Unit: nats.
-- Source: Meila 2007.
SELECT
  group_id,
  MAX(predicted_rest + true_rest) AS variationofinformation
FROM entropies
GROUP BY group_id
