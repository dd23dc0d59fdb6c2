-- Preference: share of sessions with clicks in which ranker B had more of them, ties counting half, less a half: above 0 B is preferred.
-- Undefined: no session with a click.
-- Source: Chapelle, Joachims, Radlinski & Yue 2012.
-- Better: higher.
SELECT
  group_id,
  SUM(clicked + won_by_b - won_by_a) / NULLIF(SUM(clicked), 0) / 2 - 0.5 AS preference
FROM contested
GROUP BY group_id
