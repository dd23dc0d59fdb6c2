-- contested: one row per session of interleaved lists: which ranker had more clicks, and whether there were any.
-- Units: queries.
SELECT
  group_id,
  session_id,
  CASE WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) > SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END) THEN 1 ELSE 0 END AS won_by_a,
  CASE WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) < SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END) THEN 1 ELSE 0 END AS won_by_b,
  CASE WHEN SUM(clicks) > 0 THEN 1 ELSE 0 END AS clicked
FROM interleaved
GROUP BY group_id, session_id
