-- SNIPS: IPS divided by the mean weight: steadier, and between the least reward and the greatest.
--     SNIPS = sum of w r / sum of w, w the importance weight, r the reward
-- Full name: self-normalized inverse propensity score estimate.
-- Use when: you have logs with propensities and IPS varies too much. It is the usual default.
-- importance_weight(): default none: limit of the importance weight, the ratio of both probabilities.
-- Direction: higher.
-- Range: -inf to inf.
-- Undefined: no logs, or the target policy takes none of the logged actions.
-- Source: Swaminathan & Joachims 2015.
SELECT
  group_id,
  SUM(importance_weight(target_propensity / NULLIF(propensity, 0)) * reward)
    / NULLIF(SUM(importance_weight(target_propensity / NULLIF(propensity, 0))), 0) AS snips
FROM logs
GROUP BY group_id
