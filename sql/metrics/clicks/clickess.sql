-- ClickESS: effective sample size: the number of clicks of equal weight to which the weighted ones are equivalent.
-- Full name: effective number of clicks.
-- Use when: you need to know how many clicks an estimate is based on. Few of them carry it if this is far below their number.
-- Depth: 0 (clicks alone).
-- Interval: none (it describes the data)
-- Range: 0 to inf.
-- Undefined: no clicks.
-- Source: Kish 1965.
SELECT
  group_id,
  SUM(clicked * click_weight) * SUM(clicked * click_weight) / NULLIF(SUM(clicked * click_weight * click_weight), 0) AS click_ess
FROM grouped_clicks
GROUP BY group_id
