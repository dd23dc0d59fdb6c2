-- SNDR: DR with weights divided by their mean.
--     SNDR = mean of q + sum of w (r - p) / sum of w
-- q is the reward predicted for the target policy, p that for the action, w the importance weight, r the reward.
-- Full name: self-normalized doubly robust estimate.
-- Use when: you have logs with propensities, a model that predicts rewards, and DR varies too much.
-- importance_weight(): default none: limit of the importance weight, the ratio of both probabilities.
-- Direction: higher.
-- Range: -inf to inf.
-- Undefined: no logs, or the target policy takes none of the logged actions.
-- Source: Thomas & Brunskill 2016.
SELECT
  group_id,
  SUM(expected_reward) / NULLIF(COUNT(*), 0)
    + SUM(importance_weight(target_propensity / NULLIF(propensity, 0)) * (reward - predicted_reward))
      / NULLIF(SUM(importance_weight(target_propensity / NULLIF(propensity, 0))), 0) AS sndr
FROM logs
GROUP BY group_id
