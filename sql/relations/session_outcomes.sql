-- session_outcomes: one row per interleaved session, with which ranker had more clicks, and a weight of 0 if there were none, else 1.
-- Sampling unit: queries.
-- Grain: group_id, session_id
SELECT
  group_id,
  session_id,
  CASE WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) > SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END) THEN 1 ELSE 0 END AS is_won_by_a,
  CASE WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) < SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END) THEN 1 ELSE 0 END AS is_won_by_b,
  CASE WHEN SUM(clicks) > 0 THEN 1 ELSE 0 END AS weight
FROM interleaved
GROUP BY group_id, session_id
