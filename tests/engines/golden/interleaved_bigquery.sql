-- sqlrank 0.1.0 for BigQuery: Preference, num_won_by_b, one row
-- reads: shop.search.sessions (interleaved)
-- made by: sqlrank sql Preference num_won_by_b --input interleaved=shop.search.sessions --dialect bigquery
WITH interleaved AS (
  -- One row per session and ranker whose results were interleaved, with its clicks.
  -- (shop.search.sessions)
  SELECT session_id, team, CAST(clicks AS FLOAT64) AS clicks FROM shop.search.sessions
), session_outcomes AS (
  -- One row per interleaved session. (session_outcomes.sql)
  SELECT
    -- 1 or 0; 0 in a tie
    CASE
      WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END)
      > SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END)
      THEN 1
      ELSE 0
    END AS is_won_by_a,
    -- 1 or 0; 0 in a tie
    CASE
      WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END)
      < SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END)
      THEN 1
      ELSE 0
    END AS is_won_by_b,
    CASE WHEN SUM(clicks) > 0 THEN 1 ELSE 0 END AS weight  -- 1 if there were clicks, else 0
  FROM interleaved
  GROUP BY session_id
)
SELECT
  -- Preference: share of sessions with clicks in which ranker B had more of them, ties counting
  -- half, less a half: above 0 B is preferred.
  SUM(weight + is_won_by_b - is_won_by_a) / NULLIF(SUM(weight), 0) / 2 - 0.5 AS preference,
  -- num_won_by_b: number of sessions in which ranker B had more clicks.
  CAST(COALESCE(SUM(is_won_by_b), 0) AS FLOAT64) AS num_won_by_b
FROM session_outcomes;
