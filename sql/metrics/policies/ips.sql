-- IPS: reward that a target policy would have, each logged action weighed by how much likelier it is there.
-- capped(): default none: limit of the importance weight, the ratio of both probabilities.
-- Undefined: no logs.
-- Source: Horvitz & Thompson 1952.
-- Direction: higher.
SELECT
  group_id,
  SUM(capped(target_propensity / NULLIF(propensity, 0)) * reward) / NULLIF(COUNT(*), 0) AS ips
FROM logs
GROUP BY group_id
