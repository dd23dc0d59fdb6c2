-- session_outcomes: one row per group and interleaved session: whether ranker A or ranker B had more clicks, and weight, 0 without clicks.
-- Sampling unit: queries.
-- Grain: group_id, session_id
SELECT
  group_id, session_id,
  CASE
    WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) > SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END) THEN 1
    ELSE 0
  END AS is_won_by_a, -- 1 or 0; 0 in a tie
  CASE
    WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) < SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END) THEN 1
    ELSE 0
  END AS is_won_by_b, -- 1 or 0; 0 in a tie
  CASE WHEN SUM(clicks) > 0 THEN 1 ELSE 0 END AS weight -- 1 if there were clicks, else 0
FROM interleaved
GROUP BY group_id, session_id
