-- IPS: reward that a target policy would have, each logged action weighed by how much likelier it is there.
--     IPS = mean of w r, w the importance weight, r the reward
-- Full name: inverse propensity score estimate.
-- Use when: you have logs with propensities and want an unbiased estimate. Its variance is high if policies differ much.
-- importance_weight(): default none: limit of the importance weight, the ratio of both probabilities.
-- Direction: higher.
-- Range: -inf to inf.
-- Undefined: no logs.
-- Source: Horvitz & Thompson 1952.
SELECT
  group_id,
  SUM(importance_weight(target_propensity / NULLIF(propensity, 0)) * reward) / NULLIF(COUNT(*), 0) AS ips
FROM logs
GROUP BY group_id
