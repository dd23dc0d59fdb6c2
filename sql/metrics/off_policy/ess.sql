-- ESS: effective sample size: the number of actions of the target policy to which the logged ones are equivalent.
--     ESS = (sum of weights)^2 / sum of squared weights
-- The weight of a log is target_propensity / propensity, as importance_weight() limits it.
-- Full name: effective sample size.
-- Use when: you need to know how much data an off-policy estimate is based on. A small value means: don't trust it.
-- importance_weight(): default none: limit of the importance weight, the ratio of both probabilities.
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: no logs, or the target policy takes none of the logged actions.
-- Source: Kish 1965.
SELECT
  group_id,
  effective_size(
    importance_weight(target_propensity / NULLIF(propensity, 0)),
    importance_weight(target_propensity / NULLIF(propensity, 0)) * importance_weight(target_propensity / NULLIF(propensity, 0))
  ) AS ess
FROM logs
GROUP BY group_id
