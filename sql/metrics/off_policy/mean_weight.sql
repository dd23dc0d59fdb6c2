-- MeanWeight: mean ratio of the probability of an action under the target to that under the logged policy, 1 if the logs are sound.
--     MeanWeight = mean over actions a of target(a) / logged(a)
-- Use when: you check the logs: a mean that is far from 1 suggests that propensities are wrong.
-- importance_weight(): default none: limit of the importance weight, the ratio of both probabilities.
-- Direction: neither.
-- Range: 0 to inf.
-- Undefined: no logs.
-- Source: Li, Chu, Langford & Wang 2011.
SELECT
  group_id,
  SUM(importance_weight(target_propensity / NULLIF(propensity, 0))) / NULLIF(COUNT(*), 0) AS mean_weight
FROM logs
GROUP BY group_id
