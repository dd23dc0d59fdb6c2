-- DR: doubly robust: the rewards that were predicted for the target, and IPS of what predictions were off by.
-- capped(): default none: what the ratio of the two probabilities counts for.
-- Undefined: no logs.
-- Source: Dudik, Langford & Li 2011.
-- Better: higher.
SELECT
  group_id,
  SUM(expected_reward + capped(target / NULLIF(propensity, 0)) * (reward - predicted_reward)) / NULLIF(COUNT(*), 0) AS dr
FROM logs
GROUP BY group_id
