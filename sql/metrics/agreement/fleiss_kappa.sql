-- FleissKappa: Fleiss' kappa: share of pairs of judges that agree on an item, adjusted for chance: 0 at random, 1 if all agree.
--     kappa = (P - E) / (1 - E), P the mean agreement of two judges of an item, E that of ratings at random
-- Full name: Fleiss' kappa.
-- Range: -1 to 1.
-- Interval: influence kappa_influence FROM kappa_influence
-- Undefined: no item has two ratings, or all ratings are equal.
-- Source: Fleiss 1971, for items of equal numbers of ratings.
SELECT
  group_id,
  (AVG(agreement) - AVG(chance_agreement)) / NULLIF(1 - AVG(chance_agreement), 0) AS fleiss_kappa
FROM item_agreement
GROUP BY group_id
