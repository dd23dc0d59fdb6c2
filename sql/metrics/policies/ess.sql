-- ESS: effective sample size: the number of actions of the target policy to which the logged ones are equivalent.
-- capped(): default none: limit of the importance weight, the ratio of both probabilities.
-- Interval: none (it describes the data)
-- Undefined: no logs, or the target does nothing of what was logged.
-- Source: Kish 1965.
SELECT
  group_id,
  SUM(capped(target_propensity / NULLIF(propensity, 0))) * SUM(capped(target_propensity / NULLIF(propensity, 0))) / NULLIF(SUM(capped(target_propensity / NULLIF(propensity, 0)) * capped(target_propensity / NULLIF(propensity, 0))), 0) AS ess
FROM logs
GROUP BY group_id
