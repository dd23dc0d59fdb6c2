-- DR: doubly robust: the rewards predicted for the target policy, and IPS of the errors of the predictions.
--     DR = mean of q + w (r - p)
-- q is the reward predicted for the target policy, p that for the action, w the importance weight, r the reward.
-- Full name: doubly robust estimate.
-- Use when: you have logs with propensities and a model that predicts rewards. One of the two has to be right.
-- importance_weight(): default none: limit of the importance weight, the ratio of both probabilities.
-- Direction: higher.
-- Range: -inf to inf.
-- Undefined: no logs.
-- Source: Dudik, Langford & Li 2011.
SELECT
  group_id,
  SUM(
    expected_reward
      + importance_weight(target_propensity / NULLIF(propensity, 0)) * (reward - predicted_reward)
  ) / NULLIF(COUNT(*), 0) AS dr
FROM logs
GROUP BY group_id
