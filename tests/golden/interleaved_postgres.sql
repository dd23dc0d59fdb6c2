-- sqlrank 0.1.0: Preference, num_won_by_b
-- plan: one scan of each input
-- for another: there is none for these metrics
WITH interleaved AS (
  /* interleaved: what was clicked of two rankers whose lists were interleaved: a row per session and
   ranker */
  SELECT
    session_id, team,
    CAST(clicks AS DOUBLE PRECISION) AS clicks
  FROM shop.search.sessions
), contested AS (
  /* relations/contested.sql: one row per session of interleaved lists: which ranker had more clicks, and
   whether there were any. */
  SELECT
    CASE
      WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) > SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END)
      THEN 1
      ELSE 0
    END AS won_by_a,
    CASE
      WHEN SUM(CASE WHEN team = 'A' THEN clicks ELSE 0 END) < SUM(CASE WHEN team = 'B' THEN clicks ELSE 0 END)
      THEN 1
      ELSE 0
    END AS won_by_b,
    CASE WHEN SUM(clicks) > 0 THEN 1 ELSE 0 END AS clicked
  FROM interleaved
  GROUP BY session_id
), by_contested AS (
  /* one row per group */
  SELECT
    /* Preference: share of sessions with clicks in which ranker B had more of them, ties counting half, less a half: above 0 B is preferred. */
    CAST(SUM(clicked + won_by_b - won_by_a) AS DOUBLE PRECISION) / NULLIF(SUM(clicked), 0) / 2
    - CAST(0.5 AS DOUBLE PRECISION) AS preference,
    /* num_won_by_b: number of sessions in which ranker B had more clicks. */
    SUM(won_by_b) AS num_won_by_b
  FROM contested
)
SELECT
  by_contested.preference AS preference,
  CAST(COALESCE(by_contested.num_won_by_b, 0) AS DOUBLE PRECISION) AS num_won_by_b
FROM by_contested;
