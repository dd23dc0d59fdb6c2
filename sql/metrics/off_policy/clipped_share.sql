-- ClippedShare: share of logged actions whose weight is above a limit.
-- Use when: you limit importance weights and need to know how many rows the limit changes.
-- $clip: number above 0, default 10: the limit.
-- Range: 0 to 1.
-- Direction: neither.
-- Undefined: no logs.
-- Source: sqlrank.
SELECT
  group_id,
  SUM(CASE WHEN target_propensity / NULLIF(propensity, 0) > $clip THEN 1 ELSE 0 END) / NULLIF(COUNT(*), 0) AS clipped_share
FROM logs
GROUP BY group_id
