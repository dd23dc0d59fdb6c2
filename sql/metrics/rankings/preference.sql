-- Preference: share of sessions with clicks in which ranker B had more of them, ties counting half, less a half: above 0 B is preferred.
-- Use when: you compare two rankers online with fewer sessions than an A/B test needs. It says who wins, not by how much clicks change.
-- Direction: higher.
-- Range: -0.5 to 0.5.
-- Undefined: no session with a click.
-- Source: Chapelle, Joachims, Radlinski & Yue 2012.
SELECT
  group_id,
  SUM(weight + is_won_by_b - is_won_by_a) / NULLIF(SUM(weight), 0) / 2 - 0.5 AS preference
FROM session_outcomes
GROUP BY group_id
