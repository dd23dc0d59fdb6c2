-- ClickClippedShare: share of clicks whose weight, the inverse of the propensity, is above a limit.
--     ClickClippedShare = clicks whose weight exceeds clip / clicks
-- A weight is above the limit by more than the rounding of 1 / propensity.
-- Use when: you limit weights by importance_weight=clip and need to know how many clicks the limit changes.
-- $clip: number above 0, default 10: the limit.
-- Depth: 0 (clicks alone).
-- Interval: none (it describes the data)
-- Range: 0 to 1.
-- Direction: neither.
-- Undefined: no clicks.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN click_weight > $clip * 1.000000001 THEN clicked ELSE 0 END) / NULLIF(SUM(clicked), 0) AS click_clipped_share
FROM grouped_clicks
GROUP BY group_id
