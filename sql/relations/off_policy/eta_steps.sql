-- eta_steps: one row per eta of a fine grid: its number, from 0.
-- Grain: step
SELECT CAST(number AS INT) AS step
FROM UNNEST(GENERATE_SERIES(0, 200)) AS series(number)
