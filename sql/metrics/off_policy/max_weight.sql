-- MaxWeight: greatest ratio of the probability of an action under the target to that under the logged policy.
--     MaxWeight = max over actions a of target(a) / logged(a)
-- Use when: you need to know if a single logged action dominates an off-policy estimate.
-- importance_weight(): default none: limit of the importance weight, the ratio of both probabilities.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: no logs.
-- Source: sqlrank.
SELECT
  group_id,
  MAX(importance_weight(target_propensity / NULLIF(propensity, 0))) AS max_weight
FROM logs
GROUP BY group_id
