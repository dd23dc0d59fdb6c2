-- ClickESS: effective sample size: the number of clicks of equal weight to which the weighted ones are equivalent.
--     ClickESS = (sum of weights)^2 / sum of squared weights
-- Full name: effective number of clicks.
-- Use when: you need to know how many clicks an estimate is based on. Few of them carry it if this is far below their number.
-- Depth: 0 (clicks alone).
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: no clicks.
-- Source: Kish 1965.
SELECT
  group_id,
  effective_size(clicked * click_weight, clicked * click_weight * click_weight) AS click_ess
FROM grouped_clicks
GROUP BY group_id
